// Primitives of zero-copy kernels, alone and concurrent with copies.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "shiplap/core/error.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

/// Rates in GB/s that determine how many background ops are needed to last longer than the measured ones. They were
/// seen on an H200 on PCIe 5 x16. On a link half as fast both sides slow down, and the background still lasts long
/// enough. Where the background ends too early, the figure is too good.
namespace seen_on_h200 {
constexpr double fastest_copies = 60;     // copies alone
constexpr double read_of_a_block = 1.5;   // least rate concurrent with copies; 2.4 alone
constexpr double written_by_a_block = 4;  // least rate concurrent with copies; 10 alone
constexpr double slowest_kernels = 20;    // least rate concurrent with copies for any number of blocks; 27 was seen
constexpr double fastest_kernels = 55;    // highest rate for any number of blocks
constexpr double most_read_by_a_block = 3.5;
constexpr double most_written_by_a_block = 20;
constexpr double slowest_copies = 15;               // least rate concurrent with kernels of few blocks
constexpr double slowest_copies_of_full_gpu = 3.5;  // least rate concurrent with kernels of more than two blocks per SM
}  // namespace seen_on_h200

/// Number of blocks above which a launch moves `long_launch` bytes instead of `bytes_per_zero_copy_launch`. Such
/// launches are faster, and their time must stay long compared with the fixed time of a launch.
constexpr std::uint64_t blocks_of_short_launches = 64;
constexpr Bytes long_launch = 64_MiB;

// A point with a small and a large number of kernels (or copies), whose difference contains no start and no end.
Point mapped_point(std::uint64_t blocks, Bytes size, std::pair<double, double> counts) {
  return point_over(fmt::format("{} blocks, {}", blocks, to_string(size)), "count", {counts.first, counts.second},
                    {{"bytes", in_bytes(size)}, {"blocks", static_cast<double>(blocks)}, {"width", widest_access}});
}
/// The given grids, and those of one block per SM, two blocks per SM, and as many blocks as the GPU holds.
std::vector<std::uint64_t> possible_grids(const Setting& setting, std::vector<std::uint64_t> grids) {
  const std::uint64_t most = setting.info.resident_threads / map_probe_threads;
  if (most == 0) throw Unsupported(fmt::format("{} does not say how many threads it holds", setting.info.id));
  if (setting.largest < bytes_per_zero_copy_launch)
    throw Unsupported(fmt::format("the largest copy asked for is smaller than the {} that one kernel moves",
                                  to_string(bytes_per_zero_copy_launch)));
  grids.push_back(setting.info.sm_count);
  if (!quick(setting)) grids.push_back(2ull * setting.info.sm_count);
  grids.push_back(most);
  std::erase_if(grids, [&](std::uint64_t blocks) { return blocks == 0 || blocks > most; });
  std::ranges::sort(grids);
  grids.erase(std::unique(grids.begin(), grids.end()), grids.end());
  return grids;
}

/// Numbers of kernels of `bytes_per_zero_copy_launch` bytes in the short and the long trial. The long trial touches
/// most of `zero_copy_footprint`, so that address translations are cached only as far as in a large pipeline. A quick
/// measurement and grids of few blocks use a quarter of that to save time.
std::pair<double, double> mapped_counts(const Setting& setting, std::uint64_t blocks) {
  constexpr double few = 2;
  constexpr double many = 7;
  constexpr std::uint64_t few_blocks = 8;
  constexpr double most = 7.0 / 8;
  const bool all = !quick(setting) && blocks >= few_blocks;
  const double touched = in_bytes(zero_copy_footprint) * (all ? most : most / 4);
  const double more = std::max(1.0, touched / in_bytes(bytes_per_zero_copy_launch) / many);
  return {std::round(few * more), std::round(many * more)};
}

std::vector<Point> mapped_points(const Setting& setting) {
  const auto grids = possible_grids(setting, quick(setting) ? std::vector<std::uint64_t>{1, 4, 16, 32}
                                                            : std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 64});
  std::vector<Point> points;
  for (const std::uint64_t blocks : grids)
    points.push_back(blocks > blocks_of_short_launches
                         ? mapped_point(blocks, std::min(long_launch, setting.largest), {1, 4})
                         : mapped_point(blocks, bytes_per_zero_copy_launch, mapped_counts(setting, blocks)));
  return points;
}

/// Blocks of the kernels on flushed memory. The rate of so few depends on the latency of an access, which the CPU's
/// caches change, and they access little memory, which is soon flushed.
constexpr std::uint64_t blocks_on_flushed_memory = 4;

/// One of `mapped_points`, so that a point without a flush stands beside it. The GPU fills mapped memory, so the CPU's
/// caches hold at most what the processor keeps of the writes of devices.
std::vector<Point> flushed_mapped_points(const Setting& setting) {
  not_in_quick(setting);
  std::vector<Point> points = mapped_points(setting);
  std::erase_if(points, [](const Point& point) {
    return point.variants.front().at("blocks") != static_cast<double>(blocks_on_flushed_memory);
  });
  return points;
}

/// The largest grid of `mapped_points`, for rows about the memory or the order of the accesses.
std::vector<Point> full_grid_points(const Setting& setting) { return {mapped_points(setting).back()}; }

/// Points of zero-copy kernels concurrent with copies, as in hybrid pipelines.
std::vector<Point> points_beside(const Setting& setting,
                                 const std::function<std::pair<double, double>(std::uint64_t)>& counts) {
  std::vector<Point> points;
  for (const std::uint64_t blocks : possible_grids(
           setting, quick(setting) ? std::vector<std::uint64_t>{4, 32} : std::vector<std::uint64_t>{1, 4, 8, 16, 32}))
    points.push_back(mapped_point(blocks, bytes_per_zero_copy_launch, counts(blocks)));
  const Bytes copy = std::min(long_copy_beside, setting.largest);
  for (Point& point : points)
    for (Arguments& variant : point.variants) variant["copy"] = in_bytes(copy);
  return points;
}
/// Points at which the kernels are timed and the copies are background.
std::vector<Point> beside_points(const Setting& setting) {
  return points_beside(setting, [&](std::uint64_t blocks) { return mapped_counts(setting, blocks); });
}
/// Points at which the copies are timed and the kernels are background.
std::vector<Point> copies_beside_points(const Setting& setting) {
  return points_beside(setting, [](std::uint64_t) { return std::pair{1.0, 4.0}; });
}

using ZeroCopyAccess = ZeroCopyTrial::Access;
ZeroCopyTrial kernels_of(ZeroCopyAccess access, const Arguments& arguments, unsigned count) {
  return {.access = access,
          .size = bytes(arguments),
          .kernels = count,
          .blocks = whole(arguments, "blocks"),
          .width = whole(arguments, "width")};
}
/// The access of kernels that move bytes in this direction.
ZeroCopyAccess access_of(CopyDirection way) {
  return way == host_to_device ? ZeroCopyAccess::read : ZeroCopyAccess::write;
}
Trial mapped(ZeroCopyAccess access, MeasurableDevice& device, const Arguments& arguments) {
  return zero_copy_kernels(device, kernels_of(access, arguments, whole(arguments, "count")));
}
Trial mapped_way(CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
  return mapped(access_of(way), device, arguments);
}
/// Kernels that access host memory in another order.
auto mapped_in(ProbeKind order) {
  return [order](CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
    ZeroCopyTrial wanted = kernels_of(access_of(way), arguments, whole(arguments, "count"));
    wanted.kernel = order;
    return zero_copy_kernels(device, wanted);
  };
}
/// Kernels that access managed memory which stays on the host.
auto managed_with(MemoryAdvice advice) {
  return [advice](CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
    ZeroCopyTrial wanted = kernels_of(access_of(way), arguments, whole(arguments, "count"));
    wanted.memory = MemoryKind::managed;
    wanted.advice = advice;
    return zero_copy_kernels(device, wanted);
  };
}
/// The kernels are timed, and the copies in the other direction outlast them.
Trial zero_copy_beside(CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
  ZeroCopyTrial wanted = kernels_of(access_of(way), arguments, whole(arguments, "count"));
  using namespace seen_on_h200;
  const double of_a_block = way == device_to_host ? written_by_a_block : read_of_a_block;
  const double slowest = std::min(slowest_kernels, of_a_block * arguments.at("blocks"));
  wanted.copies = opposite(way);
  wanted.copy_size = copy_size_beside(arguments);
  const double copies = wanted.kernels * arguments.at("bytes") / in_bytes(wanted.copy_size);
  wanted.copy_count = 3 + static_cast<unsigned>(copies * fastest_copies / slowest);
  return zero_copy_kernels(device, wanted);
}
/// The copies in the other direction are timed, and the kernels outlast them.
Trial copies_beside(CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
  const unsigned copies = whole(arguments, "count");
  const Bytes copy = copy_size_beside(arguments);
  using namespace seen_on_h200;
  const bool full = arguments.at("blocks") > 2.0 * device.info().sm_count;
  const double slowest = full ? slowest_copies_of_full_gpu : slowest_copies;
  const double of_a_block = way == device_to_host ? most_written_by_a_block : most_read_by_a_block;
  const double fastest = std::min(fastest_kernels, of_a_block * arguments.at("blocks"));
  const double kernels = copies * in_bytes(copy) / in_bytes(bytes(arguments));
  ZeroCopyTrial wanted = kernels_of(access_of(way), arguments, 3 + static_cast<unsigned>(kernels * fastest / slowest));
  wanted.copies = opposite(way);
  wanted.copy_size = copy;
  wanted.copy_count = copies;
  wanted.time_copies = true;
  return zero_copy_kernels(device, wanted);
}

}  // namespace

std::vector<PrimitiveRow> zero_copy_rows() {
  RowTable rows;
  rows.add_each_way("mapped.{read|write}", "kernels that {read|write} mapped host memory", mapped_points, mapped_way);
  rows.add("mapped.both", "kernels that read and write mapped host memory", mapped_points,
           [](MeasurableDevice& device, const Arguments& arguments) {
             return mapped(ZeroCopyAccess::both, device, arguments);
           });
  rows.add_each_way("mapped.{read|write}.flushed", "the same as mapped.{read|write} with nothing in the CPU's caches",
                    flushed_mapped_points, [](CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
                      return flushed(mapped_way(way, device, arguments));
                    });
  rows.add_each_way("mapped.{read|write}.strided",
                    "kernels that {read|write} mapped host memory 16 B at a time, a page apart", full_grid_points,
                    mapped_in(ProbeKind::strided));
  rows.add_each_way("mapped.{read|write}.random",
                    "kernels that {read|write} mapped host memory 16 B at a time, in random order", full_grid_points,
                    mapped_in(ProbeKind::random));
  rows.add_each_way("managed.{read|write}.prefer-host",
                    "kernels that {read|write} managed memory whose preferred location is the host", full_grid_points,
                    managed_with(MemoryAdvice::prefer_host));
  rows.add_each_way("managed.{read|write}.accessed-by-gpu",
                    "kernels that {read|write} managed memory on the host that is mapped on the GPU", full_grid_points,
                    managed_with(MemoryAdvice::accessed_by_gpu));
  for (const CopyDirection way : both_directions) {
    rows.add_way(way, "mapped.{read.beside.d2h|write.beside.h2d}",
                 "kernels that {read|write} mapped host memory concurrent with copies {from|to} the GPU", beside_points,
                 zero_copy_beside);
    rows.add_way(way, "copies.{d2h.beside.read|h2d.beside.write}",
                 "copies {from|to} the GPU concurrent with kernels that {read|write} mapped host memory",
                 copies_beside_points, copies_beside);
  }
  return rows.all;
}

}  // namespace shiplap
