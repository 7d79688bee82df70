// The histogram of a frame that a block counts in shared memory. Programs that stand alone contain its text
// (program_text.hpp).
#pragma once

#include <cstdint>

namespace shiplap::kernels {

constexpr unsigned voters = 1024;  // threads of a block
constexpr unsigned most_copies = 32;

/// The 256 bins of a block. Each bin has `copies` copies (a power of two up to 32) side by side, and lane i of a warp
/// uses copy i modulo `copies`. With 32 copies each lane has its own copy and its own bank, so the votes of a warp
/// never conflict.
struct Bins {
  std::uint32_t* words;
  unsigned copies;

  /// Sets all bins to 0. Must be called before the first vote.
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
  /// Adds up the copies when all threads have voted, and sets them to 0 if there are further frames. Neighbouring
  /// threads add up one bin. The threads of a warp begin at different copies and so, with 32 copies, in different
  /// banks.
  __device__ void write(std::uint32_t* histogram, bool further) const {
    constexpr unsigned threads_of_bin = voters / 256;
    const unsigned part = threadIdx.x % threads_of_bin;
    const unsigned bin = threadIdx.x / threads_of_bin;
    const unsigned each = copies < threads_of_bin ? 1 : copies / threads_of_bin;
    __syncthreads();
    std::uint32_t sum = 0;
    for (unsigned k = part * each; k < (part + 1) * each && k < copies; ++k) {
      std::uint32_t& word = words[bin * copies + (bin + k) % copies];
      sum += word;
      if (further) word = 0;
    }
#pragma unroll
    for (unsigned other = threads_of_bin / 2; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffff, sum, other);
    if (part == 0) histogram[bin] = sum;
    if (further) __syncthreads();
  }
};

}  // namespace shiplap::kernels
