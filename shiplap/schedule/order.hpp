// Checks that the ops of a schedule can be submitted in their order: they depend on earlier ops only, without cycles.
#pragma once

#include <string>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Returns one sentence for each dependency on a missing op, on the op itself or on a later op, and one that names the
/// ops of a cycle through dependencies, stream order and agent order. Returns at most `limit` sentences. `problems`
/// calls it.
std::vector<std::string> order_problems(const Schedule&, std::size_t limit);

}  // namespace shiplap
