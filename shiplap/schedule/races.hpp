// Finds accesses to the same bytes that no stream and no dependency puts in an order.
#pragma once

#include <string>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// One sentence for each pair of unordered accesses to overlapping bytes, one of them a write. At most `limit`. All ids
/// and regions of the schedule must be sound and every dependency be on an earlier op. A part of `problems`.
std::vector<std::string> race_problems(const Schedule&, std::size_t limit);

/// Adds a dependency for each access of an op at or behind `from` that conflicts with an earlier op's and is not
/// ordered. Latest first, so that a dependency that others imply is the only one added in most cases.
void order_conflicts(Schedule&, OpId from);

}  // namespace shiplap
