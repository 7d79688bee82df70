// What strategies refuse, with what to do instead.
#pragma once

#include <string_view>

#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

/// Throws Unsupported that says what to do unless all arrays live in such memory. Those that stay on the GPU may be
/// pageable all the same, and anywhere for strategies of memory that is not page-locked.
void require_memory(const Job&, ArrayMemory, std::string_view strategy);
/// Throws Unsupported when the choice wants a graph or batches: host threads take part in the strategy.
void require_single_calls(const Choice&, std::string_view strategy);

}  // namespace shiplap
