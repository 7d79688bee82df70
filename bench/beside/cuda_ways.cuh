// The ways that need the CUDA runtime alone: plain copies and four streams by hand, with pinned rings for vectors.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/beside/work.hpp"
#include "bench/by_hand/harness.hpp"
#include "bench/by_hand/kernels.cuh"
#include "bench/by_hand/pipelines.cuh"

namespace beside {

/// Device memory and streams of one work, with what can be done with them.
class CudaWays {
 public:
  CudaWays(const Work& work, std::span<const float> x, std::span<float> y) : work_(work), x_(x), y_(y) {
    const auto fewest = static_cast<std::uint64_t>(*std::ranges::min_element(work.chunks));
    const std::uint64_t slot = largest_part(fewest);
    device_items_ = std::max(by_hand::FourStreams::count * slot, largest_part(static_cast<std::uint64_t>(work.slices)));
    if (!work.pinned) device_items_ = std::max(device_items_, work.items);  // rings work on whole arrays
    for (float** data : {&dx_, &dy_})
      by_hand::check(cudaMalloc(reinterpret_cast<void**>(data), device_items_ * sizeof(float)));
  }
  ~CudaWays() {
    cudaFree(dx_);
    cudaFree(dy_);
  }
  CudaWays(const CudaWays&) = delete;
  CudaWays& operator=(const CudaWays&) = delete;

  /// cudaMemcpy in, kernel, cudaMemcpy out, slice by slice.
  by_hand::Way plain() {
    const std::string slices = work_.slices > 1 ? std::to_string(work_.slices) + " slices, " : "";
    return {slices + "copy in, kernel, copy out", [this] {
              for (int c = 0; c < work_.slices; ++c) {
                const auto [first, end] = part(c, work_.slices);
                by_hand::check(cudaMemcpy(dx_, &x_[first], (end - first) * sizeof(float), cudaMemcpyDefault));
                by_hand::add<<<by_hand::blocks(end - first), 256>>>(end - first, dx_, addend, dy_);
                by_hand::check(cudaMemcpy(&y_[first], dy_, (end - first) * sizeof(float), cudaMemcpyDefault));
              }
            }};
  }

  /// The fastest of the numbers of chunks.
  by_hand::Way four_streams() {
    std::vector<by_hand::Way> ways;
    for (const int chunks : work_.chunks)
      ways.push_back({std::to_string(chunks) + " chunks", [this, chunks] { run_four_streams(chunks); }});
    return by_hand::best_of(ways, 3);
  }

  /// Threads that fill and empty pinned rings, which is what fast programs with pageable arrays have; the fastest of a
  /// few sizes.
  by_hand::Way rings() {
    std::vector<by_hand::Way> ways;
    for (const int threads : {4, 8})
      for (const std::uint64_t chunk_bytes : {1 << 20, 4 << 20}) {
        const auto chunks = static_cast<int>(
            std::max<std::uint64_t>(static_cast<std::uint64_t>(threads), work_.items * sizeof(float) / chunk_bytes));
        const std::uint64_t place = largest_part(static_cast<std::uint64_t>(chunks)) * sizeof(float);
        const auto ring = std::make_shared<by_hand::Rings>(threads, chunks, place, place);
        ways.push_back({std::to_string(threads) + " threads each way, " + std::to_string(chunks) + " chunks",
                        [this, ring, chunks] { run_rings(*ring, chunks); }});
      }
    return by_hand::best_of(ways, 3);
  }

 private:
  std::uint64_t largest_part(std::uint64_t parts) const { return (work_.items + parts - 1) / parts; }
  by_hand::Range part(int chunk, int chunks) const { return by_hand::part(work_.items, chunk, chunks); }

  void run_four_streams(int chunks) {
    const std::uint64_t slot_items = largest_part(static_cast<std::uint64_t>(chunks));
    streams_.run(chunks, [&](int c, int slot, cudaStream_t stream) {
      const auto [first, end] = part(c, chunks);
      float* const dx = dx_ + static_cast<std::uint64_t>(slot) * slot_items;
      float* const dy = dy_ + static_cast<std::uint64_t>(slot) * slot_items;
      const std::size_t bytes = (end - first) * sizeof(float);
      by_hand::check(cudaMemcpyAsync(dx, &x_[first], bytes, cudaMemcpyDefault, stream));
      by_hand::add<<<by_hand::blocks(end - first), 256, 0, stream>>>(end - first, dx, addend, dy);
      by_hand::check(cudaMemcpyAsync(&y_[first], dy, bytes, cudaMemcpyDefault, stream));
    });
  }

  void run_rings(by_hand::Rings& ring, int chunks) {
    const auto range = [&](int c) { return part(c, chunks); };
    const auto bytes = [&](int c) { return (range(c).end - range(c).first) * sizeof(float); };
    ring.run([&](int c, std::byte* place) { std::memcpy(place, &x_[range(c).first], bytes(c)); },
             [&](int c, const std::byte* place, cudaStream_t stream) {
               const auto [first, end] = range(c);
               by_hand::check(cudaMemcpyAsync(dx_ + first, place, bytes(c), cudaMemcpyDefault, stream));
               by_hand::add<<<by_hand::blocks(end - first), 256, 0, stream>>>(end - first, dx_ + first, addend,
                                                                              dy_ + first);
             },
             [&](int c, std::byte* place, cudaStream_t stream) {
               by_hand::check(cudaMemcpyAsync(place, dy_ + range(c).first, bytes(c), cudaMemcpyDefault, stream));
             },
             [&](int c, const std::byte* place) { std::memcpy(&y_[range(c).first], place, bytes(c)); });
  }

  const Work& work_;
  std::span<const float> x_;
  std::span<float> y_;
  std::uint64_t device_items_ = 0;
  float* dx_ = nullptr;
  float* dy_ = nullptr;
  by_hand::FourStreams streams_;
};

/// Why the CUDA runtime cannot be used; empty when it can.
inline std::string why_no_cuda() {
  int gpus = 0;
  const cudaError_t error = cudaGetDeviceCount(&gpus);
  return error == cudaSuccess ? "" : cudaGetErrorString(error);
}

}  // namespace beside
