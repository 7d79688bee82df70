// decode_step DEVICE PROFILE
// Steps as of a decoder that gathers pages of a cache: 2,000 blocks of 64 KiB from a pinned pool of 8 GiB for each
// step, concurrent with a kernel of about 5 ms. Reads one way a line from standard input ("loop", "batch", "shiplap",
// "limited", "kernel") and answers with the time of a step in milliseconds, or with "wrong" when a byte is not what the
// pool holds. decode.py asks in turn with PyTorch.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/blocks/neighbours.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/pipeline/move.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/profile/profile.hpp"

namespace {

using namespace shiplap;

constexpr Bytes pool_size = 8_GiB;
constexpr Bytes block = 64_KiB;
constexpr std::uint32_t blocks_of_step = 2000;
constexpr unsigned steps = 40;
constexpr Bytes memory_of_kernel = 2_GiB;

void check(cudaError_t error) {
  if (error != cudaSuccess) throw Error(cudaGetErrorString(error));
}

class Decoder {
 public:
  Decoder(MeasurableDevice& device, const Profile& profile)
      : node_(node_of(device, profile)), pool_(device, pool_size.count / sizeof(std::uint64_t)) {
    std::mt19937_64 random(7);
    for (std::uint64_t& word : pool_) word = random();
    for (std::byte*& buffer : packed_)
      check(cudaMalloc(reinterpret_cast<void**>(&buffer), (block * blocks_of_step).count));
    check(cudaMalloc(reinterpret_cast<void**>(&scratch_), memory_of_kernel.count));
    int lowest = 0;
    int highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    check(cudaStreamCreateWithPriority(&moves_, cudaStreamNonBlocking, highest));
    check(cudaStreamCreateWithFlags(&kernels_, cudaStreamNonBlocking));
    for (auto* events : {&moved_, &used_})
      for (cudaEvent_t& event : *events) check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    check(cudaEventCreate(&start_));
    check(cudaEventCreate(&stop_));
    for (unsigned i = 0; i <= steps; ++i) {
      std::vector<std::uint32_t>& list = lists_.emplace_back(blocks_of_step);
      for (std::uint32_t& index : list) index = static_cast<std::uint32_t>(random() % (pool_size.count / block.count));
    }
  }

  /// Milliseconds per step.
  template <class Gather>
  double run(const Gather& gather) {
    for (unsigned warm_up = 0; warm_up < 2; ++warm_up) pipeline(gather);
    return pipeline(gather) / steps;
  }

  bool is_right() {
    const std::vector<std::uint32_t>& list = lists_[steps - 1];
    std::vector<std::byte> seen((block * blocks_of_step).count);
    check(cudaMemcpy(seen.data(), packed_[(steps - 1) % 2], seen.size(), cudaMemcpyDefault));
    for (std::uint32_t k = 0; k < blocks_of_step; ++k)
      if (std::memcmp(seen.data() + k * block.count, in_pool(list[k]), block.count) != 0) return false;
    return true;
  }

  void by_loop(const std::vector<std::uint32_t>& list, std::byte* to) {
    for (std::uint32_t k = 0; k < blocks_of_step; ++k)
      check(cudaMemcpyAsync(to + k * block.count, in_pool(list[k]), block.count, cudaMemcpyHostToDevice, moves_));
  }
  void by_batch(const std::vector<std::uint32_t>& list, std::byte* to) {
    for (std::uint32_t k = 0; k < blocks_of_step; ++k) {
      to_[k] = to + k * block.count;
      from_[k] = in_pool(list[k]);
    }
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    check(
        cudaMemcpyBatchAsync(to_.data(), from_.data(), bytes_.data(), blocks_of_step, &attributes, &first, 1, moves_));
  }
  void by_shiplap(const std::vector<std::uint32_t>& list, std::byte* to, const MoverLimits& limits) {
    used_mover_ = move(node_, BlockPool{pool_, block}, list, to, moves_, limits);
  }
  std::string used_mover() const { return to_string(used_mover_); }

 private:
  const std::byte* in_pool(std::uint32_t index) const {
    return reinterpret_cast<const std::byte*>(pool_.data()) + index * block.count;
  }
  void kernel() { bench::launch_memory_bound(scratch_, memory_of_kernel, kernels_); }

  // The blocks of step i + 1 move while the kernel of step i runs.
  template <class Gather>
  double pipeline(const Gather& gather) {
    check(cudaDeviceSynchronize());
    check(cudaEventRecord(start_, kernels_));
    check(cudaStreamWaitEvent(moves_, start_, 0));
    for (unsigned i = 0; i <= steps; ++i) {
      if (i < steps) {
        if (i >= 2) check(cudaStreamWaitEvent(moves_, used_[i % 2], 0));
        gather(lists_[i], packed_[i % 2]);
        check(cudaEventRecord(moved_[i % 2], moves_));
      }
      if (i == 0) continue;
      check(cudaStreamWaitEvent(kernels_, moved_[(i - 1) % 2], 0));
      kernel();
      check(cudaEventRecord(used_[(i - 1) % 2], kernels_));
    }
    check(cudaEventRecord(stop_, kernels_));
    check(cudaDeviceSynchronize());
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start_, stop_));
    return ms;
  }

  Node node_;
  pinned_vector<std::uint64_t> pool_;
  std::byte* packed_[2] = {};
  std::byte* scratch_ = nullptr;
  cudaStream_t moves_ = nullptr;
  cudaStream_t kernels_ = nullptr;
  std::array<cudaEvent_t, 2> moved_{};
  std::array<cudaEvent_t, 2> used_{};
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
  std::vector<std::vector<std::uint32_t>> lists_;
  std::vector<void*> to_ = std::vector<void*>(blocks_of_step);
  std::vector<const void*> from_ = std::vector<const void*>(blocks_of_step);
  std::vector<std::size_t> bytes_ = std::vector<std::size_t>(blocks_of_step, block.count);
  Mover used_mover_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: decode_step DEVICE PROFILE\n");
    return 64;
  }
  const auto device = open(argv[1]);
  Decoder decoder(*device, find_profile(argv[2]));
  std::cout << "ready " << device->info().name << std::endl;
  for (std::string way; std::getline(std::cin, way);) {
    double ms = 0;
    if (way == "loop")
      ms = decoder.run([&](const auto& list, std::byte* to) { decoder.by_loop(list, to); });
    else if (way == "batch")
      ms = decoder.run([&](const auto& list, std::byte* to) { decoder.by_batch(list, to); });
    else if (way == "shiplap")
      ms = decoder.run([&](const auto& list, std::byte* to) { decoder.by_shiplap(list, to, {}); });
    else if (way == "limited")
      ms = decoder.run([&](const auto& list, std::byte* to) { decoder.by_shiplap(list, to, {.max_slowdown = 0.03}); });
    else if (way == "kernel")
      ms = decoder.run([](const auto&, std::byte*) {});
    else
      break;
    if (way != "kernel" && !decoder.is_right())
      std::cout << "wrong" << std::endl;
    else
      std::cout << ms << " " << (way == "shiplap" || way == "limited" ? decoder.used_mover() : "") << std::endl;
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "decode_step: %s\n", error.what());
  return 1;
}
