// An evaluation as CSV: what a person or a script reads without the samples.
#pragma once

#include <string>

#include "shiplap/evaluate/evaluation.hpp"

namespace shiplap {

/// One line per point: workload, memory, choice, predicted time with its interval, and of the observed times the median
/// with its 95 % interval, the 5 % and 95 % quantiles, the spread and the number of runs. Times are in milliseconds.
std::string evaluation_csv(const Evaluation&);

}  // namespace shiplap
