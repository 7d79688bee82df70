#include "shiplap/strategy/chunk_kernel.hpp"

#include <algorithm>
#include <optional>

namespace shiplap {
namespace {

/// The widest load or store of a CUDA thread (a float4). It is assumed for kernels whose accesses to host memory were
/// not measured.
constexpr Bytes bytes_per_access = 16_B;

/// The measured times of the kernel with these operands in host memory; nullopt when they were not measured.
std::optional<MeasuredFlow> measured_flow(const Job& job, ItemRange range, const ChunkMemory& memory,
                                          std::uint64_t max_blocks) {
  bool in = false;
  bool out = false;
  for (std::size_t a = 0; a < job.arrays.size(); ++a)
    if (memory.is_zero_copy(a) && job.arrays[a].size.count > 0) (job.arrays[a].role == Role::in ? in : out) = true;
  const auto row = job.cost.zero_copy_at(in, out, max_blocks, blocks_of(job, range.count));
  if (!row) return std::nullopt;
  const std::uint64_t items = average_items(job, range);
  const Seconds alone = std::max(row->at(items), job.cost.at(items));
  return MeasuredFlow{
      .alone = alone, .beside_copies = std::max(alone, row->beside_at(items)), .copies_beside = row->copies_beside};
}

}  // namespace

Bytes bytes_in_flight(const Job& job, std::uint64_t blocks, const Limits& limits) {
  const std::uint64_t resident_blocks = limits.resident_threads == 0 ? blocks : wave_of(job, limits.resident_threads);
  return bytes_per_access * (std::min(blocks, resident_blocks) * job.threads_per_block);
}

Kernel untimed_launch(const Job& job, ItemRange range, const Limits& limits, std::uint64_t max_blocks,
                      std::uint64_t at_once) {
  const LaunchGrid own_grid = launch_grid(job, range.count, limits.resident_threads, at_once);
  return {.kernel = KernelId{0},
          .first_item = range.first,
          .items = range.count,
          .launches = launches_of(job, range.count),
          .waits = job.waits,
          .blocks = max_blocks > 0 ? std::min(own_grid.blocks, max_blocks) : own_grid.blocks,
          .resident_blocks = own_grid.resident_blocks,
          .full_rate_blocks = own_grid.full_rate_blocks,
          .operands = {},
          .flows = {}};
}

Kernel launch_over(const Job& job, ItemRange range, const Limits& limits, std::uint64_t max_blocks,
                   std::uint64_t at_once) {
  Kernel kernel = untimed_launch(job, range, limits, max_blocks, at_once);
  kernel.work = kernel_time(job, average_items(job, range), max_blocks, at_once);
  kernel.call = job.cost.call;
  return kernel;
}

Kernel chunk_kernel(const Job& job, ItemRange range, std::uint32_t chunk, const Limits& limits,
                    const ChunkMemory& memory, std::uint64_t max_blocks, std::uint64_t at_once) {
  Kernel kernel = launch_over(job, range, limits, max_blocks, at_once);
  const Bytes in_flight = bytes_in_flight(job, kernel.blocks, limits);
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    kernel.operands.push_back(memory.operand(a, chunk));
    const Region& region = kernel.operands.back().region;
    if (!memory.is_zero_copy(a) || region.length.count == 0) continue;
    const auto add_flow = [&](AccessMode mode) {
      kernel.flows.push_back({.buffer = region.buffer, .mode = mode, .bytes = region.length, .in_flight = in_flight});
    };
    if (job.arrays[a].role != Role::out) add_flow(AccessMode::read);
    if (job.arrays[a].role != Role::in) add_flow(AccessMode::write);
  }
  if (!kernel.flows.empty()) kernel.measured = measured_flow(job, range, memory, max_blocks);
  return kernel;
}

}  // namespace shiplap
