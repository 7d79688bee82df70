// What the verdicts on Comm|Scope share.
#pragma once

#include <string>

#include "experiments/cells.hpp"
#include "experiments/commscope2019/commscope2019.hpp"

namespace shiplap::experiments::commscope {

using shiplap::to_string;

inline double over(Bandwidth a, Bandwidth b) { return a.bytes_per_second / b.bytes_per_second; }
/// Copies of both ways at once over the mean of one way; all three must be there.
double both_over_one(const Rates&, const std::string& kind, Bytes);

}  // namespace shiplap::experiments::commscope
