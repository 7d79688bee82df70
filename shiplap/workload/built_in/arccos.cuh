// The kernel of arccos. Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/grid_stride.cuh"

namespace shiplap::kernels {

/// 2 arccos(x) / π - 1, in single precision or with the division in double.
template <bool promoted>
__device__ inline float psi(float x) {
  if constexpr (promoted) return static_cast<float>(2 * acosf(x) / 3.14159265358979323846 - 1);
  return acosf(x) * 0.63661977236758134f - 1;
}

/// Applies psi `calls` times, each time to the result of the time before.
template <bool promoted>
__device__ inline float4 psi_repeatedly(float4 x, std::uint32_t calls) {
#pragma unroll 1
  for (std::uint32_t i = 0; i < calls; ++i)
    x = make_float4(psi<promoted>(x.x), psi<promoted>(x.y), psi<promoted>(x.z), psi<promoted>(x.w));
  return x;
}

/// Computes `vectors` groups of four elements, and then single elements up to `count`.
template <bool promoted>
__global__ void __launch_bounds__(threads)
    arccos(const float* x, float* y, std::uint64_t vectors, std::uint64_t count, std::uint32_t calls) {
  const auto* x4 = reinterpret_cast<const float4*>(x);
  auto* y4 = reinterpret_cast<float4*>(y);
  for (std::uint64_t i = first_index(); i < vectors; i += stride()) y4[i] = psi_repeatedly<promoted>(x4[i], calls);
  for (std::uint64_t i = 4 * vectors + first_index(); i < count; i += stride()) {
    float value = x[i];
#pragma unroll 1
    for (std::uint32_t k = 0; k < calls; ++k) value = psi<promoted>(value);
    y[i] = value;
  }
}

/// Applies psi `calls` times to `n` elements.
inline void launch_arccos(const float* x, float* y, std::uint64_t n, std::uint32_t calls, bool promoted,
                          unsigned blocks, cudaStream_t stream) {
  const std::uint64_t vectors = allow_vectors(x, y) ? n / 4 : 0;
  const auto kernel = promoted ? arccos<true> : arccos<false>;
  kernel<<<blocks, threads, 0, stream>>>(x, y, vectors, n, calls);
}

}  // namespace shiplap::kernels
