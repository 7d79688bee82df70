// Refuses schedules that could give wrong results: cycles, accesses outside a buffer, unordered conflicting accesses.
#pragma once

#include <string>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Returns at most `limit` problems of a schedule, as sentences that name the ops. A sound schedule has none:
/// - All ids exist, regions are inside their buffers, and both regions of a copy have the same length.
/// - Streams belong to GPUs. Times are finite and not negative.
/// - Copies are between places that a copy engine can access.
/// - Dependencies refer to earlier ops, and dependencies, stream order and agent order form no cycle.
/// - **Any two accesses to overlapping bytes of which one is a write are ordered** by stream order and dependencies.
///   The order of an agent's ops does not count, because it does not order their execution. An op that waits for a copy
///   of a batch waits for all of the batch. A prefetch and a call of the host count as writes of their region. An op
///   that moves blocks counts as an access to all of its pool; two such ops need no order at blocks of one list and
///   pool whose positions differ.
std::vector<std::string> problems(const Schedule&, std::size_t limit = 8);

/// Throws Error that lists the first problems unless the schedule is sound.
void validate(const Schedule&);

}  // namespace shiplap
