#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "shiplap/workload/built_in/launching.cuh"
#include "shiplap/workload/built_in/stated.cuh"
#include "shiplap/workload/built_in/stated.hpp"

namespace shiplap {

using namespace kernels;

namespace {

/// Number of blocks that the current GPU holds at once. It is looked up once for each GPU, because launches are timed.
template <class Unit, class Index>
unsigned one_wave() {
  static std::array<std::atomic<unsigned>, 64> known{};
  int device = 0;
  int sm_count = 0;
  int each = 0;
  if (cudaGetDevice(&device) != cudaSuccess) throw Error("the stated kernel cannot tell the current GPU");
  const bool keeps = static_cast<std::size_t>(device) < known.size();
  if (keeps && known[device] != 0) return known[device];
  if (cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, stated<Unit, Index>, stated_threads, 0) != cudaSuccess ||
      each <= 0)
    throw Error(std::string("the stated kernel cannot tell how many of its blocks the GPU holds: ") +
                cudaGetErrorString(cudaGetLastError()));
  const auto blocks = static_cast<unsigned>(sm_count * each);
  if (keeps) known[device] = blocks;
  return blocks;
}

template <class Unit, class Index>
void launch_stated(const Launch& launch, const StatedShape& shape, std::uint64_t halo) {
  const auto duration =
      static_cast<std::uint64_t>(std::llround(shape.time.count() * static_cast<double>(launch.items) * 1e9));
  stated<Unit, Index><<<one_wave<Unit, Index>(), stated_threads, 0, stream_of(launch)>>>(
      operand<const Unit>(launch, 0), operand<Unit>(launch, 1),
      static_cast<Index>(launch.items * shape.out / sizeof(Unit)), static_cast<Index>(shape.in / sizeof(Unit)),
      static_cast<Index>(shape.out / sizeof(Unit)), duration, halo / sizeof(Unit));
}

}  // namespace

KernelFunction cuda_stated(const StatedShape& shape) {
  if (!(shape.time.count() >= 0)) throw Error("a stated kernel cannot take a negative time");
  return [shape](const Launch& launch) {
    const std::uint64_t in = launch.items * shape.in;
    const std::uint64_t out = launch.items * shape.out;
    const std::uint64_t halo = std::min(launch.first_item, shape.before) * shape.in;
    require_operands(launch, "a stated kernel", {halo + in, out});
    if (launch.items == 0) return;
    const bool vectors = allow_vectors(launch.operands[0], launch.operands[1]) && shape.in % sizeof(uint4) == 0 &&
                         shape.out % sizeof(uint4) == 0;
    const bool short_index = out <= largest_grid && shape.in <= largest_grid;
    if (vectors && short_index) return launch_stated<uint4, std::uint32_t>(launch, shape, halo);
    if (vectors) return launch_stated<uint4, std::uint64_t>(launch, shape, halo);
    if (short_index) return launch_stated<std::uint8_t, std::uint32_t>(launch, shape, halo);
    launch_stated<std::uint8_t, std::uint64_t>(launch, shape, halo);
  };
}

}  // namespace shiplap
