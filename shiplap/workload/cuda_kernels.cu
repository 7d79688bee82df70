// Launches the kernels of the built-in workloads. Each does exactly what its host function does, whatever the grid.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/cuda_kernels.hpp"
#include "shiplap/workload/saxpy.cuh"
#include "shiplap/workload/scalar_add.cuh"
#include "shiplap/workload/scalar_add_ratio.cuh"
#include "shiplap/workload/stated.cuh"

namespace shiplap {
namespace {

using namespace kernels;

constexpr std::uint64_t largest_grid = std::numeric_limits<std::int32_t>::max();

unsigned grid(const Launch& launch, std::uint64_t work_of_threads) {
  const std::uint64_t wanted = launch.blocks > 0 ? launch.blocks : (work_of_threads + threads - 1) / threads;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(wanted, 1, largest_grid));
}

cudaStream_t stream_of(const Launch& launch) { return static_cast<cudaStream_t>(launch.stream); }

void require_operands(const Launch& launch, const char* kernel, std::uint64_t first, std::uint64_t second) {
  if (launch.operands.size() != 2 || launch.lengths.size() != 2)
    throw Error(std::string(kernel) + " has two operands, and was launched with " +
                std::to_string(launch.operands.size()));
  if (launch.lengths[0].count < first || launch.lengths[1].count < second)
    throw Error(std::string(kernel) + " of " + std::to_string(launch.items) + " items needs operands of " +
                std::to_string(first) + " and " + std::to_string(second) + " bytes, and was launched with " +
                std::to_string(launch.lengths[0].count) + " and " + std::to_string(launch.lengths[1].count));
}

bool allow_vectors(const Launch& launch) { return kernels::allow_vectors(launch.operands[0], launch.operands[1]); }

/// Elements that a thread each takes, of `n` in groups of four where that can be.
std::uint64_t in_vectors(const Launch& launch, std::uint64_t n) {
  return allow_vectors(launch) ? std::max(n / 4, n % 4) : n;
}

KernelFunction make_saxpy(float a) {
  return [a](const Launch& launch) {
    const std::uint64_t n = launch.items;
    require_operands(launch, "saxpy", 4 * n, 4 * n);
    if (n == 0) return;
    launch_saxpy(a, reinterpret_cast<const float*>(launch.operands[0]), reinterpret_cast<float*>(launch.operands[1]), n,
                 grid(launch, in_vectors(launch, n)), stream_of(launch));
  };
}

KernelFunction make_scalar_add(const ScalarAddShape& shape) {
  if (shape.in_per_item == 0 || shape.out_per_item == 0)
    throw Error("scalar-add needs at least one input and one output an item");
  return [shape](const Launch& launch) {
    const std::uint64_t inputs = launch.items * shape.in_per_item;
    const std::uint64_t outputs = launch.items * shape.out_per_item;
    require_operands(launch, "scalar-add", 4 * inputs, 4 * outputs);
    if (launch.items == 0) return;
    const Addition addition{shape.scalar, shape.iterations};
    const auto* in = reinterpret_cast<const std::uint32_t*>(launch.operands[0]);
    auto* out = reinterpret_cast<std::uint32_t*>(launch.operands[1]);
    cudaStream_t stream = stream_of(launch);
    if (shape.in_per_item == 1 && shape.out_per_item == 1) {
      launch_one_to_one(in, out, outputs, addition, grid(launch, in_vectors(launch, outputs)), stream);
    } else if (std::max(inputs, outputs) <= largest_grid) {
      scalar_add_ratio<std::uint32_t><<<grid(launch, outputs), threads, 0, stream>>>(
          in, out, static_cast<std::uint32_t>(outputs), static_cast<std::uint32_t>(shape.in_per_item),
          static_cast<std::uint32_t>(shape.out_per_item), addition);
    } else {
      scalar_add_ratio<std::uint64_t><<<grid(launch, outputs), threads, 0, stream>>>(
          in, out, outputs, shape.in_per_item, shape.out_per_item, addition);
    }
  };
}

/// Blocks that the current GPU holds at once. Asked once for each GPU: a launch is timed by its callers.
template <class Unit, class Index>
unsigned one_wave() {
  static std::array<std::atomic<unsigned>, 64> known{};
  int device = 0;
  int multiprocessors = 0;
  int each = 0;
  if (cudaGetDevice(&device) != cudaSuccess) throw Error("the stated kernel cannot tell the current GPU");
  const bool keeps = static_cast<std::size_t>(device) < known.size();
  if (keeps && known[device] != 0) return known[device];
  if (cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, stated<Unit, Index>, stated_threads, 0) != cudaSuccess ||
      each <= 0)
    throw Error(std::string("the stated kernel cannot tell how many of its blocks the GPU holds: ") +
                cudaGetErrorString(cudaGetLastError()));
  const auto blocks = static_cast<unsigned>(multiprocessors * each);
  if (keeps) known[device] = blocks;
  return blocks;
}

template <class Unit, class Index>
void launch_stated(const Launch& launch, std::uint64_t in_per_item, std::uint64_t out_per_item,
                   std::uint64_t duration) {
  stated<Unit, Index><<<one_wave<Unit, Index>(), stated_threads, 0, stream_of(launch)>>>(
      reinterpret_cast<const Unit*>(launch.operands[0]), reinterpret_cast<Unit*>(launch.operands[1]),
      static_cast<Index>(launch.items * out_per_item / sizeof(Unit)), static_cast<Index>(in_per_item / sizeof(Unit)),
      static_cast<Index>(out_per_item / sizeof(Unit)), duration);
}

KernelFunction make_stated(double seconds_per_item) {
  if (!(seconds_per_item >= 0)) throw Error("a stated kernel cannot take a negative time");
  return [seconds_per_item](const Launch& launch) {
    require_operands(launch, "a stated kernel", 0, 0);
    if (launch.items == 0) return;
    const std::uint64_t in = launch.lengths[0].count / launch.items;
    const std::uint64_t out = launch.lengths[1].count / launch.items;
    if (in * launch.items != launch.lengths[0].count || out * launch.items != launch.lengths[1].count)
      throw Error("the operands of a stated kernel are not whole bytes an item");
    const auto duration =
        static_cast<std::uint64_t>(std::llround(seconds_per_item * static_cast<double>(launch.items) * 1e9));
    const bool vectors = allow_vectors(launch) && in % sizeof(uint4) == 0 && out % sizeof(uint4) == 0;
    const bool short_index = launch.lengths[1].count <= largest_grid && in <= largest_grid;
    if (vectors && short_index) return launch_stated<uint4, std::uint32_t>(launch, in, out, duration);
    if (vectors) return launch_stated<uint4, std::uint64_t>(launch, in, out, duration);
    if (short_index) return launch_stated<std::uint8_t, std::uint32_t>(launch, in, out, duration);
    launch_stated<std::uint8_t, std::uint64_t>(launch, in, out, duration);
  };
}

}  // namespace

const CudaKernels& cuda_kernels() {
  static constexpr CudaKernels table{.saxpy = make_saxpy, .scalar_add = make_scalar_add, .stated = make_stated};
  return table;
}

}  // namespace shiplap
