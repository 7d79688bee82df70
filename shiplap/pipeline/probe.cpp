#include "shiplap/pipeline/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/pipeline/captured_kernel.hpp"
#include "shiplap/pipeline/ideal_overlap.hpp"
#include "shiplap/pipeline/probe_zero_copy.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/launches.hpp"

namespace shiplap {
namespace {

// The most items whose data stay in the L2 cache from one of the kernel's launches to the next; 0 for a single launch
// or an unknown cache. A third of the cache is left to the copies of other chunks.
std::uint64_t items_in_cache(const Job& job, Bytes l2_cache) {
  if (job.launches < 2 || job.items == 0 || job.device_traffic.count == 0) return 0;
  const double of_an_item = static_cast<double>(job.device_traffic.count) / static_cast<double>(job.launches) /
                            static_cast<double>(job.items);
  return static_cast<std::uint64_t>(static_cast<double>(l2_cache.count) * 2 / 3 / of_an_item);
}

/// Launches of the kernel on resident data with several sizes and grids, which are timed in turn.
class ResidentProbe {
 public:
  ResidentProbe(MeasurableDevice& device, const Job& job, const Limits& limits)
      : device_(device), job_(job), limits_(limits), empty_launch_(prepare_empty_launch(device)) {
    const DeviceInfo info = device.info();
    whole_ = items_that_fit(job, job.items, limits);
    sm_count_ = std::max(1u, info.sm_count);
    floor_ = items_of(job, sm_count_);
    wave_ = items_of(job, wave_of(job, info.resident_threads));
    cached_ = items_of_whole_waves(items_in_cache(job, info.l2_cache));
    for (const std::uint64_t items : sizes_worth_timing()) add(items, 0);
    add_few_blocks();
  }

  KernelCost measure(unsigned repeats) {
    time_in_turn(repeats);
    const bool has_floor = job_.any_grid && blocks_of(job_, launches_.front().items) <= sm_count_;
    KernelCost cost{.points = {},
                    .has_floor = has_floor,
                    .cached_items = cached_,
                    .limited = {},
                    .zero_copy = {},
                    .resident_blocks = job_.cost.resident_blocks,
                    .call = call_beyond_launches(),
                    .origin = "measured"};
    const double latency = median(empty_seconds_);
    for (const TimedLaunch& launch : launches_) {
      const Estimate e = median_estimate(launch.seconds);
      const auto without_latency = [&](double t) { return Seconds{std::max(0.0, t - latency)}; };
      const std::uint64_t on_average = average_items(job_, launched_items(job_, launch.items));
      const Interval<Seconds> work{without_latency(e.value), without_latency(e.low), without_latency(e.high)};
      if (launch.blocks > 0 && (cost.limited.empty() || on_average > cost.limited.back().items))
        cost.limited.push_back({on_average, launch.blocks, work});
      else if (launch.blocks == 0)
        cost.points.push_back({on_average, work});
    }
    return cost;
  }

 private:
  struct TimedLaunch {
    std::uint64_t items;
    std::uint64_t blocks;  // 0: the kernel's own grid
    Prepared prepared;
    std::vector<double> seconds;
    std::vector<double> submissions;
  };

  void add(std::uint64_t items, std::uint64_t blocks) {
    launches_.push_back({items, blocks, prepare_launch(device_, job_, items, limits_, blocks), {}, {}});
  }

  /// Host time of the kernel function beyond that of as many empty launches: the least of all sizes, because it does
  /// not depend on the size.
  Seconds call_beyond_launches() const {
    if (job_.waits) return Seconds{0};  // the time of the launch contains the call
    const double empty = median(empty_submissions_);
    double least = std::numeric_limits<double>::infinity();
    for (const TimedLaunch& launch : launches_) {
      const auto launches = static_cast<double>(std::max<std::uint64_t>(1, launches_of(job_, launch.items)));
      least = std::min(least, median(launch.submissions) - launches * empty);
    }
    return Seconds{std::max(0.0, least)};
  }

  /// The number of items rounded down to whole waves, because a partial wave takes as long as a whole one; 0 when the
  /// size would be as good as one that is measured anyway.
  std::uint64_t items_of_whole_waves(std::uint64_t cached) const {
    if (job_.any_grid && cached > wave_) cached -= cached % wave_;
    return cached >= whole_ || (job_.any_grid && cached <= floor_) ? 0 : cached;
  }

  /// Numbers of items to measure, ascending (see probe_kernel).
  std::vector<std::uint64_t> sizes_worth_timing() const {
    std::vector<std::uint64_t> sizes;
    if (job_.any_grid && floor_ < whole_) sizes.push_back(floor_);
    if (cached_ > 8 && !job_.any_grid) sizes.push_back(cached_ / 8);  // shows the time that does not depend on items
    if (cached_ > 0)
      sizes.push_back(cached_);
    else if (job_.any_grid && floor_ < wave_ && 2 * wave_ <= whole_)
      sizes.push_back(wave_);
    else if (!job_.any_grid && whole_ > 1)
      sizes.push_back(std::max<std::uint64_t>(1, whole_ / 8));
    sizes.push_back(whole_);
    return sizes;
  }

  /// Adds a launch over one wave with few blocks, as zero-copy strategies use them. When a wave has one item only, a
  /// second launch over several items shows how much of the time a thread needs once, before its first item.
  void add_few_blocks() {
    constexpr std::uint64_t few_blocks = 16;
    constexpr std::uint64_t in_a_row = 4;
    const std::uint64_t items = std::min(wave_, whole_);
    if (!job_.any_grid || blocks_of(job_, items) < few_blocks) return;
    add(items, few_blocks);
    if (items == 1 && whole_ > 1) add(std::min(in_a_row, whole_), few_blocks);
  }

  void time_in_turn(unsigned repeats) {
    constexpr unsigned warm_up = 3;
    for (unsigned i = 0; i < warm_up + repeats; ++i) {
      const RunResult empty = empty_launch_->run({.hold = true});
      if (i >= warm_up) {
        empty_seconds_.push_back(empty.timeline.makespan.count());
        empty_submissions_.push_back(empty.submission.count());
      }
      for (TimedLaunch& launch : launches_) {
        // The first run of a size may allocate, or load code of its own; a GPU that is held can do neither.
        const RunResult run = launch.prepared.run({.hold = !job_.waits && i > 0});
        if (i < warm_up) continue;
        launch.seconds.push_back(run.timeline.makespan.count());
        launch.submissions.push_back(run.submission.count());
      }
    }
  }

  MeasurableDevice& device_;
  const Job& job_;
  const Limits& limits_;
  std::unique_ptr<Execution> empty_launch_;
  std::vector<double> empty_seconds_;
  std::vector<double> empty_submissions_;
  std::vector<TimedLaunch> launches_;
  std::uint64_t whole_ = 0;  ///< items of the largest launch: all items, or those that fit into half of the memory
  std::uint64_t sm_count_ = 1;
  std::uint64_t floor_ = 0;   ///< items of one block for each SM
  std::uint64_t wave_ = 0;    ///< items of the blocks that the GPU holds at once
  std::uint64_t cached_ = 0;  ///< items whose data stay in the L2 cache from launch to launch; 0: not measured
};

}  // namespace

std::unique_ptr<Execution> prepare_empty_launch(MeasurableDevice& device) {
  const ProbeKernel empty = device.probe_kernel(ProbeKind::empty, 1, 0);
  Schedule launch;
  const StreamId stream = launch.add_stream("compute");
  const KernelId kernel = launch.add_kernel("empty");
  launch.add({.what = Kernel{.kernel = kernel, .items = 1, .work = empty.work, .operands = {}, .flows = {}},
              .stream = stream,
              .agent = AgentId{0},
              .after = {},
              .chunk = 0});
  return device.prepare(launch, {.buffers = {}, .kernels = {empty.binding}});
}

KernelCost probe_kernel(MeasurableDevice& device, const Job& given, const Limits& limits, const ProbeOptions& options) {
  Job job = given.cost.resident_blocks > 0 ? given : as_captured(device, given, limits);
  KernelCost cost = ResidentProbe(device, job, limits).measure(options.repeats);
  if (options.zero_copy > Seconds{0} && !job.waits) {
    job.cost = cost;
    try {
      cost.zero_copy = probe_zero_copy(device, job, limits, options.zero_copy);
    } catch (const UsageError&) {
      throw;
    } catch (const Cancelled&) {
      throw;
    } catch (const Error& why) {
      cost.origin += fmt::format(", without zero-copy ({})", why.what());
    }
  }
  return cost;
}

}  // namespace shiplap
