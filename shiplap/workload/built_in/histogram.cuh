// The kernel of histogram. Also text of programs (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/block_histogram.cuh"

namespace shiplap::kernels {

/// A block counts the pixels of a frame, and goes on to the next one that is its own.
__global__ void __launch_bounds__(voters) histogram(const std::uint8_t* frames, std::uint32_t* histograms,
                                                    std::uint64_t count, std::uint32_t pixels, unsigned copies) {
  __shared__ std::uint32_t words[256 * most_copies];
  const Bins bins{words, copies};
  for (std::uint64_t f = blockIdx.x; f < count; f += gridDim.x) {
    const std::uint8_t* frame = frames + f * pixels;
    bins.clear();
    // Pixels before the first address that 16 divides, then vectors, then what is left.
    const std::uint32_t misaligned = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(frame) % 16);
    const std::uint32_t head = min(pixels, (16 - misaligned) % 16);
    const std::uint32_t vectors = (pixels - head) / 16;
    for (std::uint32_t i = threadIdx.x; i < pixels - 16 * vectors; i += blockDim.x)
      bins.vote(frame[i < head ? i : i + 16 * vectors]);
    const auto* body = reinterpret_cast<const uint4*>(frame + head);
    // While one vector is counted, the next one is on its way.
    uint4 next{};
    if (threadIdx.x < vectors) next = body[threadIdx.x];
    for (std::uint32_t v = threadIdx.x; v < vectors; v += blockDim.x) {
      const uint4 sixteen = next;
      if (v + blockDim.x < vectors) next = body[v + blockDim.x];
      bins.vote_bytes(sixteen);
    }
    bins.write(histograms + 256 * f);
  }
}

/// The histograms of `count` frames.
inline void launch_histogram(const std::uint8_t* frames, std::uint32_t* histograms, std::uint64_t count,
                             std::uint32_t pixels, unsigned copies, unsigned blocks, cudaStream_t stream) {
  histogram<<<blocks, voters, 0, stream>>>(frames, histograms, count, pixels, copies);
}

}  // namespace shiplap::kernels
