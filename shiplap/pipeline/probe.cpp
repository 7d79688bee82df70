#include "shiplap/pipeline/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/pipeline/bound.hpp"
#include "shiplap/pipeline/probe_zero_copy.hpp"

namespace shiplap {
namespace {

// The most items of which all that one of the kernel's launches reads and writes stays in the L2 cache until the next;
// 0 when there is one launch only, or the cache is unknown. A third of the cache is left to the copies of other chunks.
std::uint64_t items_in_cache(const Job& job, Bytes l2_cache) {
  if (job.launches < 2 || job.items == 0 || job.device_traffic.count == 0) return 0;
  const double of_an_item = static_cast<double>(job.device_traffic.count) / static_cast<double>(job.launches) /
                            static_cast<double>(job.items);
  return static_cast<std::uint64_t>(static_cast<double>(l2_cache.count) * 2 / 3 / of_an_item);
}

/// Blocks of the kernel that the GPU holds at once, of the launch that it holds fewest of; 0 where a launch cannot be
/// captured or is a library's.
std::uint64_t resident_blocks_of(Device& device, const Job& job, const Limits& limits) {
  Schedule launch = launch_schedule(job, 1, limits);
  launch.as_graph = true;
  std::uint64_t fewest = 0;
  try {
    for (const LaunchShape& shape : Prepared(device, std::move(launch), {}, job.binding).launches())
      if (shape.max_blocks_per_sm > 0 && (fewest == 0 || shape.max_blocks_per_sm < fewest))
        fewest = shape.max_blocks_per_sm;
  } catch (const Error&) {
    return 0;  // whoever runs the kernel is told why
  }
  return fewest * device.info().multiprocessors;
}

}  // namespace

std::unique_ptr<Execution> prepare_empty_launch(Device& device) {
  const ProbeKernel empty = device.probe_kernel(ProbeKernel::Kind::empty, 1, 0);
  Schedule launch;
  const QueueId queue = launch.add_queue("compute");
  const KernelId kernel = launch.add_kernel("empty");
  launch.add({.what = Kernel{.kernel = kernel, .items = 1, .work = empty.work, .operands = {}, .flows = {}},
              .queue = queue,
              .agent = AgentId{0},
              .after = {},
              .chunk = 0});
  return device.prepare(launch, {.buffers = {}, .kernels = {empty.binding}});
}

KernelCost probe_kernel(Device& device, const Job& given, const Limits& limits, const ProbeOptions& options) {
  const unsigned repeats = options.repeats;
  Job job = given;
  job.cost.resident_blocks = resident_blocks_of(device, job, limits);
  const auto launch_only = prepare_empty_launch(device);

  struct Size {
    std::uint64_t items;
    std::uint64_t blocks;  // 0: the kernel's own grid
    Prepared prepared;
    std::vector<double> seconds;
  };
  std::vector<Size> sizes;
  std::uint64_t whole = job.items;
  while (whole > 1 && resident_size(job, whole) > limits.device_memory / 2) whole = (whole + 1) / 2;
  // One block for each multiprocessor, one wave of blocks, and the whole: the floor and two points of the full GPU.
  const DeviceInfo info = device.info();
  const std::uint64_t floor = items_of(job, std::max(1u, info.multiprocessors));
  const std::uint64_t wave = items_of(job, wave_of(job, info.resident_threads));
  // Of a kernel that goes over its data again and again: what the cache keeps for it, and the whole.
  // Whole waves: a part of one takes about as long.
  std::uint64_t cached = items_in_cache(job, info.l2_cache);
  if (job.any_grid && cached > wave) cached -= cached % wave;
  if (cached >= whole || (job.any_grid && cached <= floor)) cached = 0;
  // What else is known of a kernel with a grid of its own is a straight line.
  std::vector<std::uint64_t> wanted;
  if (job.any_grid && floor < whole) wanted.push_back(floor);
  if (cached > 8 && !job.any_grid) wanted.push_back(cached / 8);  // what its launches cost, whatever their size
  if (cached > 0)
    wanted.push_back(cached);
  else if (job.any_grid && floor < wave && 2 * wave <= whole)
    wanted.push_back(wave);
  else if (!job.any_grid && whole > 1)
    wanted.push_back(std::max<std::uint64_t>(1, whole / 8));
  wanted.push_back(whole);
  for (const std::uint64_t items : wanted) sizes.push_back({items, 0, prepare_launch(device, job, items, limits), {}});
  // The one of a wave once more with few blocks: what the kernel can do when it is throttled. Where a wave
  // has no two items, a thread may work on several items in a row, with something to do for the first.
  constexpr std::uint64_t few_blocks = 16;
  constexpr std::uint64_t in_a_row = 4;
  if (const std::uint64_t items = std::min(wave, whole); job.any_grid && blocks_of(job, items) >= few_blocks) {
    sizes.push_back({items, few_blocks, prepare_launch(device, job, items, limits, few_blocks), {}});
    if (items == 1 && whole > 1) {
      const std::uint64_t more = std::min(in_a_row, whole);
      sizes.push_back({more, few_blocks, prepare_launch(device, job, more, limits, few_blocks), {}});
    }
  }
  std::vector<double> latency;
  constexpr unsigned warm_up = 3;
  for (unsigned i = 0; i < warm_up + repeats; ++i) {
    const double launched = launch_only->run({.hold = true}).timeline.makespan.count();
    if (i >= warm_up) latency.push_back(launched);
    for (Size& size : sizes) {
      const double time = size.prepared.run({.hold = true}).timeline.makespan.count();
      if (i >= warm_up) size.seconds.push_back(time);
    }
  }
  const bool has_floor = job.any_grid && blocks_of(job, sizes.front().items) <= std::max(1u, info.multiprocessors);
  KernelCost cost{.points = {},
                  .has_floor = has_floor,
                  .cached_items = cached,
                  .limited = {},
                  .zero_copy = {},
                  .resident_blocks = job.cost.resident_blocks,
                  .origin = "measured"};
  const double launched = median(latency);
  for (const Size& size : sizes) {
    const Estimate e = median_estimate(size.seconds);
    const auto without_launch = [&](double t) { return Seconds{std::max(0.0, t - launched)}; };
    const std::uint64_t on_average = average_items(job, launched_items(job, size.items));
    const Interval<Seconds> work{without_launch(e.value), without_launch(e.low), without_launch(e.high)};
    if (size.blocks > 0 && (cost.limited.empty() || on_average > cost.limited.back().items))
      cost.limited.push_back({on_average, size.blocks, work});
    else if (size.blocks == 0)
      cost.points.push_back({on_average, work});
  }
  if (options.zero_copy > Seconds{0}) {
    sizes.clear();  // their memory is wanted
    job.cost = cost;
    try {
      cost.zero_copy = probe_zero_copy(device, job, limits, options.zero_copy);
    } catch (const UsageError&) {
      throw;
    } catch (const Cancelled&) {
      throw;
    } catch (const Error& why) {
      cost.origin += fmt::format(", not on host memory ({})", why.what());
    }
  }
  return cost;
}

}  // namespace shiplap
