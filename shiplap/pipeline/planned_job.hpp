// What planning, preparing and running have in common: the limits of a plan, its job over the arrays that are given,
// and their pins.
#pragma once

#include <vector>

#include "shiplap/pipeline/plan.hpp"

namespace shiplap {

/// The limits of the node, and of the options where these allow less.
Limits limits_of(const Node&, const PlanOptions&);

/// Pins the arrays that are cut. They stay pinned as long as the returned objects live.
std::vector<Memory> pin_arrays(Device&, const Job&);

/// The planned job with the arrays and the kernel of `job`. Throws UsageError unless `job` has the shape of the planned
/// job.
Job planned_job(const Plan&, const Job& job);

}  // namespace shiplap
