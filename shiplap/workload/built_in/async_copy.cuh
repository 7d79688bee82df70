// Copies from global into shared memory past the registers. Also text of programs (program_text.hpp).
#pragma once

#include <cstdint>

namespace shiplap::kernels {

/// Begins to copy `bytes` (4 or 16) that are aligned so on both sides; or to write zeros, which reads nothing.
template <unsigned bytes>
__device__ inline void begin_copy(float* shared, const float* global, bool zeros) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const unsigned read = zeros ? 0 : bytes;
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(read) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(global), "r"(read) : "memory");
}

/// Ends a group of copies, which may be empty.
__device__ inline void end_group_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits for this thread's copies, except for those of the last `groups` groups.
template <unsigned groups>
__device__ inline void await_copies_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

}  // namespace shiplap::kernels
