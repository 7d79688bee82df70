#include "shiplap/pipeline/captured_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/ideal_overlap.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {
namespace {

/// The launches that a capture of the kernel over `items` items contains. A kernel that cannot be captured, such as one
/// that waits for the GPU, is refused, because it would keep the pipeline from overlapping.
std::vector<LaunchShape> captured_launches(Device& device, const Job& job, std::uint64_t items, const Limits& limits) {
  Schedule launch = launch_schedule(job, items, limits);
  launch.as_graph = true;
  try {
    return Prepared(device, std::move(launch), read_in_place(job), job.binding).launches();
  } catch (const Unsupported&) {
    throw;
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    std::throw_with_nested(
        Error(fmt::format("the kernel of {} cannot be captured: it must only enqueue work on the stream it is given, "
                          "and neither wait nor allocate ({})",
                          job.name, error.what())));
  }
}

/// Numbers of launches of a chunk, counted for some numbers of items.
class LaunchCounts {
 public:
  LaunchCounts(Device& device, const Job& job, const Limits& limits) : device_(device), job_(job), limits_(limits) {
    constexpr std::uint64_t few = 64;
    constexpr std::uint64_t large_chunks = 8;  // a plan hardly has larger chunks than an eighth of the items
    constexpr double most_launches = 4096;
    count(1);
    if (job.items > 1) count(std::min(job.items, few));
    std::uint64_t many = job.items / large_chunks;
    if (const double each = per_item(); each > 0)
      many = std::min(many, static_cast<std::uint64_t>(most_launches / each));
    while (many > few && resident_size(job, many) > limits.device_memory / 2) many /= 2;
    if (many > few) count(many);
  }

  /// The least number of blocks of a launch that an SM holds at once, over all launches of the kernel; 0 when it is not
  /// known, as for launches of a library.
  std::uint64_t max_blocks_per_sm() const { return max_blocks_per_sm_; }

  /// Sets `launches` and `launches_per_item` of the job.
  void write_to(Job& job) const {
    const double each = per_item();
    const double without_items = counts_.front().launches - each;
    const bool is_line = std::ranges::all_of(counts_, [&](const Count& c) {
      return std::abs(without_items + each * c.items - c.launches) <= std::max(1.0, tolerance * c.launches);
    });
    const double most = std::ranges::max(counts_, {}, &Count::launches).launches;
    job.launches_per_item = is_line ? std::max(0.0, each) : 0;
    job.launches = static_cast<std::uint64_t>(std::llround(std::max(0.0, is_line && each > 0 ? without_items : most)));
  }

 private:
  struct Count {
    double items;
    double launches;
  };
  static constexpr double tolerance = 0.05;  // fraction by which a count may differ from the line

  void count(std::uint64_t items) {
    const std::vector<LaunchShape> launches = captured_launches(device_, job_, items, limits_);
    counts_.push_back({static_cast<double>(items), std::max(1.0, static_cast<double>(launches.size()))});
    if (counts_.size() > 1) return;
    for (const LaunchShape& shape : launches)
      if (shape.max_blocks_per_sm > 0 && (max_blocks_per_sm_ == 0 || shape.max_blocks_per_sm < max_blocks_per_sm_))
        max_blocks_per_sm_ = shape.max_blocks_per_sm;
  }
  double per_item() const {
    const Count& one = counts_.front();
    const Count& most = counts_.back();
    return most.items > one.items ? (most.launches - one.launches) / (most.items - one.items) : 0;
  }

  Device& device_;
  const Job& job_;
  const Limits& limits_;
  std::vector<Count> counts_;
  std::uint64_t max_blocks_per_sm_ = 0;
};

}  // namespace

Job as_captured(Device& device, Job job, const Limits& limits) {
  if (device.is_virtual() || !job.capturable) return job;
  const LaunchCounts counts(device, job, limits);
  counts.write_to(job);
  if (job.cost.resident_blocks == 0) job.cost.resident_blocks = counts.max_blocks_per_sm() * device.info().sm_count;
  return job;
}

}  // namespace shiplap
