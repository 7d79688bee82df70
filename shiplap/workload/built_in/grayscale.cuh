// The kernel of grayscale. Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/block_histogram.cuh"

namespace shiplap::kernels {

/// (77 R + 150 G + 29 B + 128) / 256 in byte 1 of the result, for a pixel in bytes 0, 1 and 2: Rec. 601 in integers.
__device__ inline std::uint32_t weighted(std::uint32_t pixel) {
  return __dp4a(pixel, 77u | 150u << 8 | 29u << 16, 128u);
}

/// The gray values of four pixels in twelve bytes.
__device__ inline std::uint32_t four_grays(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t first = weighted(a);
  const std::uint32_t second = weighted(__byte_perm(a, b, 0x0543));
  const std::uint32_t third = weighted(__byte_perm(b, c, 0x0432));
  const std::uint32_t fourth = weighted(c >> 8);
  return __byte_perm(__byte_perm(first, second, 0x0051), __byte_perm(third, fourth, 0x0051), 0x5410);
}

constexpr unsigned pixels_of_group = 512;  // pixels that a warp takes at a time: 16 a lane
constexpr unsigned vectors_of_group = 3 * pixels_of_group / 16;
constexpr unsigned warps_of_block = voters / 32;

constexpr unsigned shared_bytes =
    256 * most_copies * sizeof(std::uint32_t) + warps_of_block * vectors_of_group * sizeof(uint4);

/// The groups of pixels of a frame that warps read. They begin at the first pixel whose address is a multiple of 16.
/// Pixels before it and after the last whole group are read one by one. As 16 divides 3 * 5 + 1, the number of pixels
/// before the groups is 5 times the misalignment, modulo 16.
struct FrameGroups {
  std::uint32_t head;   // number of pixels before the groups
  std::uint32_t count;  // number of groups
  const uint4* body;

  __device__ FrameGroups(const std::uint8_t* frame, std::uint32_t pixels)
      : head(min(pixels, static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(frame) % 16) * 5 % 16)),
        count((pixels - head) / pixels_of_group),
        body(reinterpret_cast<const uint4*>(frame + 3 * head)) {}
};

/// Each block turns frames gray and counts their gray values, one frame at a time. While a warp works on one group of
/// pixels, its next group is being loaded: at the end of a frame, the first group of the block's next frame.
template <bool keeps_gray>
__global__ void __launch_bounds__(voters) grayscale(const std::uint8_t* rgb, std::uint32_t* histograms,
                                                    std::uint8_t* gray, std::uint64_t count, std::uint32_t pixels) {
  extern __shared__ uint4 shared[];
  // A lane works on three vectors, which are 48 bytes from those of the next lane. The warp reads all vectors in
  // coalesced accesses and distributes them to the lanes through shared memory, which costs no bank conflicts.
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint4* stage = shared + warp * vectors_of_group;
  const Bins bins{reinterpret_cast<std::uint32_t*>(shared + warps_of_block * vectors_of_group), most_copies};
  uint4 next[3]{};
  const auto fetch = [&](const FrameGroups& groups, std::uint32_t g) {
    if (g >= groups.count) return;
#pragma unroll
    for (unsigned k = 0; k < 3; ++k) next[k] = groups.body[g * vectors_of_group + 32 * k + lane];
  };
  const auto begin = [&](std::uint64_t f) {
    if (f < count) fetch(FrameGroups(rgb + 3 * f * pixels, pixels), warp);
  };
  begin(blockIdx.x);
  bins.clear();
  for (std::uint64_t f = blockIdx.x; f < count; f += gridDim.x) {
    const std::uint8_t* frame = rgb + 3 * f * pixels;
    std::uint8_t* grays = keeps_gray ? gray + f * pixels : nullptr;
    const FrameGroups groups(frame, pixels);
    for (std::uint32_t i = threadIdx.x; i < pixels - pixels_of_group * groups.count; i += blockDim.x) {
      const std::uint32_t p = i < groups.head ? i : i + pixels_of_group * groups.count;
      const std::uint8_t* at = frame + 3ull * p;
      const std::uint32_t value = weighted(at[0] | at[1] << 8 | at[2] << 16) >> 8;
      bins.vote(value);
      if (keeps_gray) grays[p] = static_cast<std::uint8_t>(value);
    }
    const bool in_vectors = reinterpret_cast<std::uintptr_t>(grays + groups.head) % 16 == 0;
    for (std::uint32_t g = warp; g < groups.count; g += warps_of_block) {
#pragma unroll
      for (unsigned k = 0; k < 3; ++k) stage[32 * k + lane] = next[k];
      __syncwarp();
      const uint4 a = stage[3 * lane], b = stage[3 * lane + 1], c = stage[3 * lane + 2];
      __syncwarp();
      fetch(groups, g + warps_of_block);
      const uint4 sixteen = make_uint4(four_grays(a.x, a.y, a.z), four_grays(a.w, b.x, b.y), four_grays(b.z, b.w, c.x),
                                       four_grays(c.y, c.z, c.w));
      bins.vote_bytes(sixteen);
      if (!keeps_gray) continue;
      std::uint8_t* to = grays + groups.head + pixels_of_group * g + 16 * lane;
      if (in_vectors) {
        *reinterpret_cast<uint4*>(to) = sixteen;
      } else {
        const std::uint32_t words[]{sixteen.x, sixteen.y, sixteen.z, sixteen.w};
#pragma unroll
        for (unsigned k = 0; k < 16; ++k) to[k] = static_cast<std::uint8_t>(words[k / 4] >> 8 * (k % 4));
      }
    }
    const std::uint64_t further = f + gridDim.x;
    begin(further);
    bins.write(histograms + 256 * f, further < count);
  }
}

/// Computes the histograms of the gray values of `count` frames, and the gray frames themselves unless `gray` is null.
inline void launch_grayscale(const std::uint8_t* rgb, std::uint32_t* histograms, std::uint8_t* gray,
                             std::uint64_t count, std::uint32_t pixels, unsigned blocks, cudaStream_t stream) {
  const auto kernel = gray == nullptr ? grayscale<false> : grayscale<true>;
  // The kernel needs more shared memory than the default limit of 48 KiB. The limit is set for the current device, so
  // it is set before each launch.
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  kernel<<<blocks, voters, shared_bytes, stream>>>(rgb, histograms, gray, count, pixels);
}

}  // namespace shiplap::kernels
