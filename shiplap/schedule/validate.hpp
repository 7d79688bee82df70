// Refuses a schedule that could give a wrong result: cycles, accesses outside a buffer, unordered conflicting accesses.
#pragma once

#include <string>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Everything that is wrong with a schedule, one sentence each naming the ops; empty when it is sound. Checked are:
/// ids in range; lengths of copies equal; regions inside their buffers; copies join places that a copy engine can join;
/// no cycle in dependencies, stream order and agent order; dependencies refer to earlier ops (an op is submitted after
/// what it waits for); and **any two accesses to overlapping bytes, one of them a write, are ordered** by stream order
/// and dependencies. Agent order does not order execution and does not count.
/// At most `limit` problems are returned.
std::vector<std::string> problems(const Schedule&, std::size_t limit = 8);

/// Throws Error with the first problems when there are any.
void validate(const Schedule&);

}  // namespace shiplap
