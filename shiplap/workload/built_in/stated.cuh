// The stand-in for a kernel stated by hand. Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/grid_stride.cuh"

namespace shiplap::kernels {

constexpr unsigned stated_threads = 1024;

__device__ inline std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// The pattern of outputs without inputs. The host's stand-in has the same pattern.
__device__ inline std::uint32_t filler(std::uint64_t position_in_item) {
  return static_cast<std::uint32_t>(position_in_item * 31 + 7) & 0xff;
}

__device__ inline std::uint8_t made(std::uint64_t position_in_item, std::uint8_t) {
  return static_cast<std::uint8_t>(filler(position_in_item));
}
__device__ inline uint4 made(std::uint64_t position_in_item, uint4) {
  std::uint32_t words[4];
  for (std::uint64_t w = 0; w < 4; ++w) {
    const std::uint64_t t = 16 * position_in_item + 4 * w;
    words[w] = filler(t) | filler(t + 1) << 8 | filler(t + 2) << 16 | filler(t + 3) << 24;
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

/// Writes output t of each item, which is its input t mod `a`. Counts are in units of Unit, a byte or 16 bytes.
template <class Unit, class Index>
__device__ void write_outputs(const Unit* in, Unit* out, Index outputs, Index a, Index b) {
  for (std::uint64_t at = first_index(); at < outputs; at += stride()) {
    const auto o = static_cast<Index>(at);
    const Index t = o % b;
    out[at] = a == 0 ? made(t, Unit{}) : in[static_cast<std::uint64_t>(o / b) * a + t % a];
  }
}

/// The stand-in. Two of its blocks fill an SM, so that no other kernel runs beside a grid of one wave. The first `halo`
/// units of the inputs are those of items before the launch.
template <class Unit, class Index>
__global__ void __launch_bounds__(stated_threads, 2)
    stated(const Unit* in, Unit* out, Index outputs, Index a, Index b, std::uint64_t duration, std::uint64_t halo) {
  const std::uint64_t start = nanoseconds();
  write_outputs(in + halo, out, outputs, a, b);
  if (threadIdx.x == 0)
    while (nanoseconds() - start < duration) {
    }
  __syncthreads();  // the other threads stay resident until the time is over
}

}  // namespace shiplap::kernels
