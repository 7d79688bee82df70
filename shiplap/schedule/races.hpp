// Finds conflicting accesses to the same bytes that neither stream order nor dependencies order.
#pragma once

#include <string>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Returns one sentence for each pair of unordered accesses to overlapping bytes of which one is a write, at most
/// `limit`. All ids and regions of the schedule must be valid, and every dependency must be on an earlier op.
/// `problems` calls it.
std::vector<std::string> race_problems(const Schedule&, std::size_t limit);

/// Adds a dependency wherever an access of the op `from` or of a later op conflicts with an access of an earlier op and
/// nothing orders the two. Dependencies on later ops are added first, because they often imply the others.
void order_conflicts(Schedule&, OpId from);

}  // namespace shiplap
