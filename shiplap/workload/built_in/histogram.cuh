// The kernel of histogram. Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/block_histogram.cuh"

namespace shiplap::kernels {

/// The vectors of 16 pixels of a frame that a block reads. They begin at the first address that is a multiple of 16.
/// Pixels before it and after the last whole vector are read one by one.
struct FrameVectors {
  std::uint32_t head;   // number of pixels before the vectors
  std::uint32_t count;  // number of vectors
  const uint4* body;

  __device__ FrameVectors(const std::uint8_t* frame, std::uint32_t pixels)
      : head(min(pixels, (16 - static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(frame) % 16)) % 16)),
        count((pixels - head) / 16),
        body(reinterpret_cast<const uint4*>(frame + head)) {}
};

/// Each block counts the pixels of frames, one frame at a time. While a thread counts one vector, its next vector is
/// being loaded: at the end of a frame, the first vector of the block's next frame.
__global__ void __launch_bounds__(voters) histogram(const std::uint8_t* frames, std::uint32_t* histograms,
                                                    std::uint64_t count, std::uint32_t pixels, unsigned copies) {
  __shared__ std::uint32_t words[256 * most_copies];
  const Bins bins{words, copies};
  uint4 next{};
  const auto begin = [&](std::uint64_t f) {
    if (f >= count) return;
    const FrameVectors vectors(frames + f * pixels, pixels);
    if (threadIdx.x < vectors.count) next = vectors.body[threadIdx.x];
  };
  begin(blockIdx.x);
  bins.clear();
  for (std::uint64_t f = blockIdx.x; f < count; f += gridDim.x) {
    const std::uint8_t* frame = frames + f * pixels;
    const FrameVectors vectors(frame, pixels);
    for (std::uint32_t i = threadIdx.x; i < pixels - 16 * vectors.count; i += blockDim.x)
      bins.vote(frame[i < vectors.head ? i : i + 16 * vectors.count]);
    for (std::uint32_t v = threadIdx.x; v < vectors.count; v += blockDim.x) {
      const uint4 sixteen = next;
      if (v + blockDim.x < vectors.count) next = vectors.body[v + blockDim.x];
      bins.vote_bytes(sixteen);
    }
    const std::uint64_t further = f + gridDim.x;
    begin(further);
    bins.write(histograms + 256 * f, further < count);
  }
}

/// Computes the histograms of `count` frames.
inline void launch_histogram(const std::uint8_t* frames, std::uint32_t* histograms, std::uint64_t count,
                             std::uint32_t pixels, unsigned copies, unsigned blocks, cudaStream_t stream) {
  histogram<<<blocks, voters, 0, stream>>>(frames, histograms, count, pixels, copies);
}

}  // namespace shiplap::kernels
