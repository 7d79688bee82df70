// Copies from global into shared memory that bypass registers. Programs that stand alone contain its text
// (program_text.hpp).
#pragma once

#include <cstdint>

namespace shiplap::kernels {

/// Begins to copy 4 or 16 bytes, which are aligned to this size on both sides, or to write zeros without reading.
template <unsigned bytes>
__device__ inline void begin_copy(float* shared, const float* global, bool zeros) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const unsigned read = zeros ? 0 : bytes;
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(read) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(global), "r"(read) : "memory");
}

/// Ends the current group of copies, which may be empty.
__device__ inline void end_group_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits for this thread's copies, except for those of the last `groups` groups.
template <unsigned groups>
__device__ inline void await_copies_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

}  // namespace shiplap::kernels
