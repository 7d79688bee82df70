// A job with its kernel times at the ends of their intervals, for prediction intervals.
#pragma once

#include "shiplap/profile/variation.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The job with all kernel times at that end of their intervals.
Job at_interval_end(const Job&, End);

}  // namespace shiplap
