// What planning, preparing and running have in common: the limits of a plan, and its job over the arrays that are
// given.
#pragma once

#include "shiplap/pipeline/plan.hpp"

namespace shiplap {

/// The limits of the node, and of the options where these allow less.
Limits limits_of(const Node&, const PlanOptions&);

/// Whether the reach of an array is given by a function. Such a reach may differ between two jobs of the same shape, so
/// the schedule is built anew for the job that runs.
bool has_reach_by_function(const Job&);

/// The planned job with the arrays and the kernel of `job`. Throws UsageError unless `job` has the shape of the planned
/// job.
Job planned_job(const Plan&, const Job& job);

}  // namespace shiplap
