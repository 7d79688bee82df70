// The kernel of saxpy. Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/grid_stride.cuh"

namespace shiplap::kernels {

/// Computes `vectors` groups of four elements, and then single elements up to `count`.
__global__ void __launch_bounds__(threads)
    saxpy(float a, const float* x, float* y, std::uint64_t vectors, std::uint64_t count) {
  const auto* x4 = reinterpret_cast<const float4*>(x);
  auto* y4 = reinterpret_cast<float4*>(y);
  for (std::uint64_t i = first_index(); i < vectors; i += stride()) {
    const float4 p = x4[i];
    const float4 q = y4[i];
    y4[i] = make_float4(a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w);
  }
  for (std::uint64_t i = 4 * vectors + first_index(); i < count; i += stride()) y[i] = a * x[i] + y[i];
}

/// Computes y = a·x + y over `n` elements.
inline void launch_saxpy(float a, const float* x, float* y, std::uint64_t n, unsigned blocks, cudaStream_t stream) {
  const std::uint64_t vectors = allow_vectors(x, y) ? n / 4 : 0;
  saxpy<<<blocks, threads, 0, stream>>>(a, x, y, vectors, n);
}

}  // namespace shiplap::kernels
