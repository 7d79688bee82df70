// Jobs and choices that a strategy refuses. The messages say what to do instead.
#pragma once

#include <string_view>

#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

/// Throws Unsupported unless all arrays are in such memory. For strategies of pinned memory, arrays that stay on the
/// GPU may be pageable too; for others they may be in any memory.
void require_memory(const Job&, ArrayMemory, std::string_view strategy);
/// Throws Unsupported when the choice wants a graph or batches, for strategies in which host threads take part.
void require_single_calls(const Choice&, std::string_view strategy);

}  // namespace shiplap
