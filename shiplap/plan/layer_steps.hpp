// Steps of a model whose weights are streamed, as a schedule: where they lie in the ring, and what a step takes.
#pragma once

#include <cstddef>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/plan/layer_plan.hpp"

namespace shiplap {

struct LinkModel;

/// Steps that are simulated one after the other. The last ones are as all that follow.
constexpr std::size_t simulated_layer_steps = 4;

/// The link over which the weights come. Throws Unsupported for a profile without one.
const LinkModel& link_of_layers(const Profile&);
/// Places the streamed weights in the ring, layer after layer.
void place_in_ring(const LayeredModel&, std::vector<PlannedLayer>&, Bytes ring);
/// Simulates the plan, and takes from it the time of a first step and of a later one.
void simulate_steps(const Profile&, LayerPlan&);

}  // namespace shiplap
