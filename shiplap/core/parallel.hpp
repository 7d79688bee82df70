// Runs a loop on all cores that this process may use. It is for filling and checking arrays, never for a timed region.
#pragma once

#include <cstdint>
#include <functional>

namespace shiplap {

/// Splits [0, count) into consecutive ranges, calls `body(begin, end)` for each range on a thread of its own and waits
/// for all of them. Ranges start at multiples of `grain`. With at most `grain` indices, or on one core, the calling
/// thread runs everything. When calls throw, one of their exceptions is thrown again after all calls have ended.
void parallel_for(std::uint64_t count, std::uint64_t grain,
                  const std::function<void(std::uint64_t, std::uint64_t)>& body);

}  // namespace shiplap
