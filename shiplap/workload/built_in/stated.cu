#include <array>
#include <atomic>
#include <cmath>

#include "shiplap/workload/built_in/launching.cuh"
#include "shiplap/workload/built_in/stated.cuh"

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
void launch_stated(const Launch& launch, std::uint64_t in_per_item, std::uint64_t out_per_item,
                   std::uint64_t duration) {
  stated<Unit, Index><<<one_wave<Unit, Index>(), stated_threads, 0, stream_of(launch)>>>(
      operand<const Unit>(launch, 0), operand<Unit>(launch, 1),
      static_cast<Index>(launch.items * out_per_item / sizeof(Unit)), static_cast<Index>(in_per_item / sizeof(Unit)),
      static_cast<Index>(out_per_item / sizeof(Unit)), duration);
}

}  // namespace

KernelFunction cuda_stated(double seconds_per_item) {
  if (!(seconds_per_item >= 0)) throw Error("a stated kernel cannot take a negative time");
  return [seconds_per_item](const Launch& launch) {
    require_operands(launch, "a stated kernel", {0, 0});
    if (launch.items == 0) return;
    const std::uint64_t in = launch.lengths[0].count / launch.items;
    const std::uint64_t out = launch.lengths[1].count / launch.items;
    if (in * launch.items != launch.lengths[0].count || out * launch.items != launch.lengths[1].count)
      throw Error("the operands of a stated kernel are not whole bytes an item");
    const auto duration =
        static_cast<std::uint64_t>(std::llround(seconds_per_item * static_cast<double>(launch.items) * 1e9));
    const bool vectors =
        allow_vectors(launch.operands[0], launch.operands[1]) && in % sizeof(uint4) == 0 && out % sizeof(uint4) == 0;
    const bool short_index = launch.lengths[1].count <= largest_grid && in <= largest_grid;
    if (vectors && short_index) return launch_stated<uint4, std::uint32_t>(launch, in, out, duration);
    if (vectors) return launch_stated<uint4, std::uint64_t>(launch, in, out, duration);
    if (short_index) return launch_stated<std::uint8_t, std::uint32_t>(launch, in, out, duration);
    launch_stated<std::uint8_t, std::uint64_t>(launch, in, out, duration);
  };
}

}  // namespace shiplap
