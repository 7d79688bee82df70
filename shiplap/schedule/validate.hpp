// Refuses schedules that could give wrong results: cycles, accesses outside a buffer, unordered conflicting accesses.
#pragma once

#include <string>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Returns at most `limit` problems of a schedule, as sentences that name the ops. A sound schedule has none:
/// - All ids exist, regions are inside their buffers, and both regions of a copy have the same length.
/// - Copies are between places that a copy engine can access.
/// - Dependencies refer to earlier ops, and dependencies, stream order and agent order form no cycle.
/// - **Any two accesses to overlapping bytes of which one is a write are ordered** by stream order and dependencies.
///   The order of an agent's ops does not count, because it does not order their execution.
std::vector<std::string> problems(const Schedule&, std::size_t limit = 8);

/// Throws Error that lists the first problems unless the schedule is sound.
void validate(const Schedule&);

}  // namespace shiplap
