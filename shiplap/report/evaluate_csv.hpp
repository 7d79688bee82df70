// An evaluation as CSV, without its samples.
#pragma once

#include <string>

#include "shiplap/evaluate/evaluation.hpp"

namespace shiplap {

/// One line per point: workload, memory, choice, predicted time with its prediction interval, the median of the
/// observed times with its 95 % interval, their 5 % and 95 % quantiles, their spread, and the number of runs. Times are
/// in milliseconds.
std::string evaluation_csv(const Evaluation&);

}  // namespace shiplap
