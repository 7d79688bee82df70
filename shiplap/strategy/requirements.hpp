// Checks of jobs and choices that strategies share. The messages say what to do instead.
#pragma once

#include <string_view>

#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

/// Throws Unsupported unless all arrays are in this kind of memory. Scratch may be in any memory. Arrays that stay on
/// the GPU may also be pageable when pinned memory is required, and may be in any memory otherwise.
void require_memory(const Job&, ArrayMemory, std::string_view strategy);
/// Whether the strategy gives the driver advice on the arrays, which changes what other strategies do with them while
/// an execution of it lives. Such a strategy is not compared with others on the same arrays.
bool gives_advice(const Strategy&);
/// Throws Unsupported unless strategies may have the kernel access host memory (offers_zero_copy).
void require_zero_copy(const Job&);
/// Throws Unsupported when the choice has `graph` or `batched`, for strategies in which host threads perform ops.
void require_single_calls(const Choice&, std::string_view strategy);

}  // namespace shiplap
