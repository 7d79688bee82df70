// Splits an index range over the machine's cores: for filling and checking arrays, never inside a timed region.
#pragma once

#include <cstdint>
#include <functional>

namespace shiplap {

/// Calls `body(begin, end)` for consecutive pieces of [0, count) on several threads and waits for all of them.
/// Pieces start at multiples of `grain`; below two grains everything runs on the calling thread. An exception of a
/// piece is thrown again here after all pieces have ended.
void parallel_for(std::uint64_t count, std::uint64_t grain,
                  const std::function<void(std::uint64_t, std::uint64_t)>& body);

}  // namespace shiplap
