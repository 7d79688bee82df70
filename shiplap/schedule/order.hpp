// Whether the ops of a schedule can be submitted in their order: dependencies on earlier ops only, and no cycle.
#pragma once

#include <string>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// One sentence for each dependency on a missing op, on the op itself or on a later op, and one that names the ops of a
/// cycle through dependencies, stream order and agent order. At most `limit`. A part of `problems`.
std::vector<std::string> order_problems(const Schedule&, std::size_t limit);

}  // namespace shiplap
