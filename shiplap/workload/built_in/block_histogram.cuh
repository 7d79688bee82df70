// How a block counts the values of a frame in shared memory. Also text of programs (program_text.hpp).
#pragma once

#include <cstdint>

namespace shiplap::kernels {

constexpr unsigned voters = 1024;  // threads of a block
constexpr unsigned most_copies = 32;

/// The 256 bins of a block, each in so many copies (a power of two up to 32) that lie side by side. The lanes of a warp
/// take turns at them; with 32 each lane has a copy and with it a bank of its own, so that whatever the values, no two
/// votes of a warp meet.
struct Bins {
  std::uint32_t* words;
  unsigned copies;

  __device__ void clear() const {
    for (unsigned i = threadIdx.x; i < 256 * copies; i += blockDim.x) words[i] = 0;
    __syncthreads();
  }
  __device__ void vote(std::uint32_t value) const { atomicAdd(words + value * copies + threadIdx.x % copies, 1u); }
  __device__ void vote_bytes(std::uint32_t four) const {
    vote(four & 0xff);
    vote(four >> 8 & 0xff);
    vote(four >> 16 & 0xff);
    vote(four >> 24);
  }
  __device__ void vote_bytes(uint4 sixteen) const {
    vote_bytes(sixteen.x);
    vote_bytes(sixteen.y);
    vote_bytes(sixteen.z);
    vote_bytes(sixteen.w);
  }
  /// Adds the copies up when all threads have voted. Each thread begins at another copy: another bank.
  __device__ void write(std::uint32_t* histogram) const {
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
      std::uint32_t sum = 0;
      for (unsigned k = 0; k < copies; ++k) sum += words[bin * copies + (bin + k) % copies];
      histogram[bin] = sum;
    }
    __syncthreads();
  }
};

}  // namespace shiplap::kernels
