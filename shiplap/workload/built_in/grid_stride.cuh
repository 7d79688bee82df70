// Grid-stride loops: how the threads of any grid go through any number of elements. Programs that stand alone contain
// its text (program_text.hpp).
#pragma once

#include <cstdint>

namespace shiplap::kernels {

[[maybe_unused]] constexpr unsigned threads = 256;  // threads of a block

__device__ inline std::uint64_t first_index() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline std::uint64_t stride() { return std::uint64_t{gridDim.x} * blockDim.x; }

/// Whether both addresses allow accesses of 16 bytes.
inline bool allow_vectors(const void* a, const void* b) {
  return (reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b)) % 16 == 0;
}

}  // namespace shiplap::kernels
