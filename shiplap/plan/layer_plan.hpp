// Decides for a model whose weights do not fit on the GPU which of them stay there, and how the others are streamed
// through a ring while earlier layers run. No device is asked here.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/interval.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"
#include "shiplap/workload/layered_model.hpp"

namespace shiplap {

struct Profile;

/// What is copied to the ring at once: some of the streamed weights of a layer.
struct LayerPiece {
  Bytes from{};   ///< where it begins in the streamed weights of the layer, which follow each other in their order
  Bytes place{};  ///< where it begins in the ring
  Bytes size{};   ///< its size
};

/// What a plan does with the weights of a layer.
struct PlannedLayer {
  std::vector<bool> kept{};          ///< by tensor: whether it stays on the GPU
  Bytes streamed{};                  ///< bytes of the others, which each step copies to the GPU
  std::vector<LayerPiece> pieces{};  ///< these, in the order in which they are copied
};

/// How the layers of a model are run.
struct LayerPlan {
  LayeredModel model{};                ///< each layer on its own
  std::vector<PlannedLayer> layers{};  ///< by layer
  Bytes memory{};                      ///< limit of device memory
  Bytes kept{};                        ///< weights that stay on the GPU
  Bytes streamed{};                    ///< weights that a step copies to the GPU
  Bytes ring{};                        ///< memory that they pass through
  Interval<Seconds> predicted{};       ///< time of a step that follows others
  Seconds first{0};                    ///< time of the first step, whose weights were not on their way before it began
  Seconds bound{0};  ///< no way takes less: the kernels, or all that does not fit over the link at its rate
  std::shared_ptr<const Schedule> schedule{};  ///< several steps, one after the other
  Timeline timeline{};                         ///< simulated spans of the schedule's ops

  /// What a step takes, what stays on the GPU, and what more memory would bring (defined in
  /// report/layer_plan_section.cpp).
  std::string explain() const;
};

/// Plans a model under a limit of device memory, by simulation. Weights are kept in parts of all layers rather than in
/// whole ones, so that the link is busy all the time. Throws UsageError for an invalid model, Unsupported with the
/// least memory that is enough when the largest layer does not fit, or when the profile has no link.
LayerPlan plan_layers(const Profile&, const LayeredModel&, Bytes memory);

/// The same plan with other times of the layers, as they were measured: its predictions, and nothing else, change.
/// Throws UsageError unless there is a time for each layer.
LayerPlan with_times(const Profile&, LayerPlan, std::span<const Seconds> times);

/// What a step takes under another limit of device memory.
struct LayerPoint {
  Bytes memory{};
  Seconds predicted{0};
  Seconds bound{0};
};
/// Plans from the least memory with which a layer runs at all to all that the model needs, in steps of equal size.
std::vector<LayerPoint> layer_points(const Profile&, const LayeredModel&);

}  // namespace shiplap
