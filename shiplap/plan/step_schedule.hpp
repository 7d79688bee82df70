// The schedule of a step from the schedules of its passes.
#pragma once

#include <memory>

#include "shiplap/plan/step_flow.hpp"
#include "shiplap/plan/step_plan.hpp"

namespace shiplap {

/// Joins the schedules of all passes and the parts of the host into `plan.schedule`, and sets `kernels`,
/// `device_memory` and the bytes that cross the link. Passes use one after the other what device memory is not the home
/// of an array. `of_kind[k]` is the schedule of a pass of kind k.
void join_passes(const Step&, const StepFlow&, std::span<const std::shared_ptr<const Schedule>> of_kind,
                 StepPlan& plan);

}  // namespace shiplap
