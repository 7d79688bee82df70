// The kernel of scale.c and the function that launches it.
#include <algorithm>
#include <cstdint>

#include "shiplap/shiplap.h"

namespace {

__global__ void scale(float a, const float* x, float* y, std::uint64_t n) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n; i += step) y[i] = a * x[i];
}

}  // namespace

extern "C" int scale_on_gpu(const shiplap_chunk* chunk, void* user) {
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>((chunk->count + 255) / 256, 65536));
  scale<<<blocks, 256, 0, static_cast<cudaStream_t>(chunk->stream)>>>(
      *static_cast<const float*>(user), static_cast<const float*>(chunk->arrays[0].data),
      static_cast<float*>(chunk->arrays[1].data), chunk->count);
  return cudaPeekAtLastError();
}
