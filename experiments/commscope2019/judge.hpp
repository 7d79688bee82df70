// Helpers of the verdicts on Comm|Scope.
#pragma once

#include <string>

#include "experiments/cells.hpp"
#include "experiments/commscope2019/commscope2019.hpp"

namespace shiplap::experiments::commscope {

using shiplap::to_string;

inline double over(Bandwidth a, Bandwidth b) { return a.bytes_per_second / b.bytes_per_second; }
/// Duplex rate over the mean of both single rates, all of which must exist.
double both_over_one(const Rates&, const std::string& kind, Bytes);

}  // namespace shiplap::experiments::commscope
