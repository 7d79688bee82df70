#include "shiplap/strategy/chunk_kernel.hpp"

#include <algorithm>
#include <optional>

#include "shiplap/workload/launches.hpp"

namespace shiplap {
namespace {

/// The widest load or store of a CUDA thread (a float4). It is assumed for kernels whose accesses to host memory were
/// not measured.
constexpr Bytes bytes_per_access = 16_B;

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

void add_flows(const Job& job, Kernel& kernel, ItemRange range, const Limits& limits, std::uint64_t max_blocks,
               const std::function<bool(std::size_t array)>& over_link) {
  const Bytes in_flight = bytes_in_flight(job, kernel.blocks, limits);
  bool in = false;
  bool out = false;
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    if (!over_link(a)) continue;
    const Role role = job.arrays[a].role;
    if (job.arrays[a].size.count > 0) (role == Role::in ? in : out) = true;
    const Region& region = kernel.operands[a].region;
    if (region.length.count == 0) continue;
    const auto add_flow = [&](AccessMode mode) {
      kernel.flows.push_back({.buffer = region.buffer, .mode = mode, .bytes = region.length, .in_flight = in_flight});
    };
    if (role != Role::out) add_flow(AccessMode::read);
    if (role != Role::in) add_flow(AccessMode::write);
  }
  if (kernel.flows.empty()) return;
  const auto row = job.cost.zero_copy_at(in, out, max_blocks, blocks_of(job, range.count));
  if (!row) return;
  const std::uint64_t items = average_items(job, range);
  const Seconds alone = std::max(row->at(items), job.cost.launch_time(items));
  kernel.measured = MeasuredFlow{
      .alone = alone, .beside_copies = std::max(alone, row->beside_at(items)), .copies_beside = row->copies_beside};
}

Kernel chunk_kernel(const Job& job, ItemRange range, std::uint32_t chunk, const Limits& limits,
                    const ChunkMemory& memory, std::uint64_t max_blocks, std::uint64_t at_once) {
  Kernel kernel = launch_over(job, range, limits, max_blocks, at_once);
  for (std::size_t a = 0; a < job.arrays.size(); ++a) kernel.operands.push_back(memory.operand(a, chunk));
  add_flows(job, kernel, range, limits, max_blocks, [&](std::size_t a) { return memory.is_zero_copy(a); });
  return kernel;
}

}  // namespace shiplap
