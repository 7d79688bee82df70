// The kernel of scalar-add with one output for each input. Programs that stand alone contain its text
// (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/grid_stride.cuh"

namespace shiplap::kernels {

struct Addition {
  std::uint32_t scalar;
  std::uint32_t iterations;
  /// Must be 0, which the compiler does not know. The compiler and the assembler turn x + s + s into x + 2·s, but they
  /// keep all additions of (((x + s) ^ zero) + s) ^ zero.
  std::uint32_t zero = 0;
};

/// Adds the scalar `iterations` times, one addition after the other.
__device__ inline std::uint32_t add_repeatedly(std::uint32_t x, Addition addition) {
#pragma unroll 4
  for (std::uint32_t i = 0; i < addition.iterations; ++i) x = (x + addition.scalar) ^ addition.zero;
  return x;
}

/// Computes one output for each input.
__global__ void __launch_bounds__(threads)
    scalar_add_one_to_one(const std::uint32_t* in, std::uint32_t* out, std::uint64_t vectors, std::uint64_t count,
                          Addition addition) {
  const auto* in4 = reinterpret_cast<const uint4*>(in);
  auto* out4 = reinterpret_cast<uint4*>(out);
  for (std::uint64_t i = first_index(); i < vectors; i += stride()) {
    const uint4 v = in4[i];
    out4[i] = make_uint4(add_repeatedly(v.x, addition), add_repeatedly(v.y, addition), add_repeatedly(v.z, addition),
                         add_repeatedly(v.w, addition));
  }
  for (std::uint64_t i = 4 * vectors + first_index(); i < count; i += stride())
    out[i] = add_repeatedly(in[i], addition);
}

/// Computes `n` outputs from `n` inputs.
inline void launch_one_to_one(const std::uint32_t* in, std::uint32_t* out, std::uint64_t n, Addition addition,
                              unsigned blocks, cudaStream_t stream) {
  const std::uint64_t vectors = allow_vectors(in, out) ? n / 4 : 0;
  scalar_add_one_to_one<<<blocks, threads, 0, stream>>>(in, out, vectors, n, addition);
}

}  // namespace shiplap::kernels
