// Kernels that access host memory, alone and beside copies.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

// Grids from one block to a full GPU. A few kernels (or copies) against more: their difference has no start and no end.
Point mapped_point(std::uint64_t blocks, Bytes size, std::pair<double, double> counts) {
  constexpr double width = 16;
  Point point{fmt::format("{} blocks, {}", blocks, to_string(size)), {}};
  for (const double count : {counts.first, counts.second})
    point.variants.push_back(
        {{"bytes", in_bytes(size)}, {"count", count}, {"blocks", static_cast<double>(blocks)}, {"width", width}});
  return point;
}
/// The grids given, and those that have a block for each multiprocessor, two for each, and as many as fit.
std::vector<std::uint64_t> possible_grids(const Setting& setting, std::vector<std::uint64_t> grids) {
  const std::uint64_t most = setting.info.resident_threads / map_probe_threads;
  if (most == 0) throw Unsupported(fmt::format("{} does not say how many threads it holds", setting.info.id));
  if (setting.largest < 8_MiB)
    throw Unsupported("the largest copy asked for is smaller than the 8 MiB that one kernel moves");
  grids.push_back(setting.info.multiprocessors);
  if (!quick(setting)) grids.push_back(2ull * setting.info.multiprocessors);
  grids.push_back(most);
  std::erase_if(grids, [&](std::uint64_t blocks) { return blocks == 0 || blocks > most; });
  std::ranges::sort(grids);
  grids.erase(std::unique(grids.begin(), grids.end()), grids.end());
  return grids;
}

/// So many in proportion, and enough that the long trial touches most of the memory that trials go around in: they
/// find translated only what the GPU keeps translated of so much. Few threads take too long for more than 64 MiB, and
/// short launches would be too many for a queue that is held.
std::pair<double, double> mapped_counts(const Setting& setting, Bytes size, std::uint64_t blocks) {
  constexpr double few = 2;
  constexpr double many = 7;
  const bool all = !quick(setting) && blocks >= 8 && size >= 2_MiB;
  const double touched = in_bytes(mapped_footprint) * (all ? 0.875 : 0.21875);
  const double more = std::max(1.0, touched / in_bytes(size) / many);
  return {std::round(few * more), std::round(many * more)};
}

// Where much is under way, a launch must be long beside it.
std::vector<Point> mapped_points(const Setting& setting) {
  const auto grids = possible_grids(setting, quick(setting) ? std::vector<std::uint64_t>{1, 4, 16, 32}
                                                            : std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 64});
  std::vector<Point> points;
  for (const std::uint64_t blocks : grids)
    points.push_back(blocks > 64 ? mapped_point(blocks, std::min(64_MiB, setting.largest), {1, 4})
                                 : mapped_point(blocks, mapped_launch, mapped_counts(setting, mapped_launch, blocks)));
  return points;
}

/// A copy engine against kernels: the pairs that hybrid pipelines consist of.
std::vector<Point> points_beside(const Setting& setting,
                                 const std::function<std::pair<double, double>(std::uint64_t)>& counts) {
  std::vector<Point> points;
  for (const std::uint64_t blocks : possible_grids(
           setting, quick(setting) ? std::vector<std::uint64_t>{4, 32} : std::vector<std::uint64_t>{1, 4, 8, 16, 32}))
    points.push_back(mapped_point(blocks, mapped_launch, counts(blocks)));
  const Bytes copy = std::min(long_copy_beside, setting.largest);
  for (Point& point : points)
    for (Arguments& variant : point.variants) variant["copy"] = in_bytes(copy);
  return points;
}
/// Of which the kernels are timed.
std::vector<Point> beside_points(const Setting& setting) {
  return points_beside(setting, [&](std::uint64_t blocks) { return mapped_counts(setting, mapped_launch, blocks); });
}
/// Of which the copies are counted.
std::vector<Point> copies_beside_points(const Setting& setting) {
  return points_beside(setting, [](std::uint64_t) { return std::pair{1.0, 4.0}; });
}

using MappedAccess = MappedKernels::Access;
MappedKernels kernels_of(MappedAccess access, const Arguments& arguments, unsigned count) {
  return {.access = access,
          .size = bytes(arguments),
          .kernels = count,
          .blocks = whole(arguments, "blocks"),
          .width = whole(arguments, "width")};
}
template <MappedAccess access>
Trial mapped(MeasurableDevice& device, const Arguments& arguments) {
  return mapped_kernels(device, kernels_of(access, arguments, whole(arguments, "count")));
}
/// The kernels are timed, and the copies outlast them.
template <MappedAccess access, CopyDirection way>
Trial mapped_beside(MeasurableDevice& device, const Arguments& arguments) {
  MappedKernels wanted = kernels_of(access, arguments, whole(arguments, "count"));
  // GB/s beside copies at 60: a block of an H200 reads 2.4 and writes 10, and many come down to 27. Half as fast a link
  // halves both sides at most.
  const double of_a_block = access == MappedAccess::write ? 4 : 1.5;
  const double slowest = std::min(20.0, of_a_block * arguments.at("blocks"));
  wanted.copies = way;
  wanted.copy_size = copy_size_beside(arguments);
  const double copies = wanted.kernels * arguments.at("bytes") / in_bytes(wanted.copy_size);
  wanted.copy_count = 3 + static_cast<unsigned>(copies * 60 / slowest);
  return mapped_kernels(device, wanted);
}
/// The copies are timed, and the kernels outlast them.
template <MappedAccess access, CopyDirection way>
Trial copies_beside(MeasurableDevice& device, const Arguments& arguments) {
  const unsigned copies = whole(arguments, "count");
  const Bytes copy = copy_size_beside(arguments);
  // GB/s: what copies of an H200 come down to; kernels have 55 at most, and 20 (3.5) a block that writes (reads).
  const bool full = arguments.at("blocks") > 2.0 * device.info().multiprocessors;
  const double slowest = full ? 3.5 : 15;
  const double fastest = std::min(55.0, (access == MappedAccess::write ? 20 : 3.5) * arguments.at("blocks"));
  const double kernels = copies * in_bytes(copy) / in_bytes(bytes(arguments));
  MappedKernels wanted = kernels_of(access, arguments, 3 + static_cast<unsigned>(kernels * fastest / slowest));
  wanted.copies = way;
  wanted.copy_size = copy;
  wanted.copy_count = copies;
  wanted.time_copies = true;
  return mapped_kernels(device, wanted);
}

}  // namespace

std::span<const PrimitiveRow> zero_copy_rows() {
  static const std::array rows{
      PrimitiveRow{
          {"mapped.read", "kernels that read mapped host memory", "events"}, mapped_points, mapped<MappedAccess::read>},
      PrimitiveRow{{"mapped.write", "kernels that write mapped host memory", "events"},
                   mapped_points,
                   mapped<MappedAccess::write>},
      PrimitiveRow{{"mapped.both", "kernels that read and write mapped host memory", "events"},
                   mapped_points,
                   mapped<MappedAccess::both>},
      PrimitiveRow{
          {"mapped.read.beside.d2h", "kernels that read mapped host memory beside copies from the GPU", "events"},
          beside_points,
          mapped_beside<MappedAccess::read, device_to_host>},
      PrimitiveRow{
          {"copies.d2h.beside.read", "copies from the GPU beside kernels that read mapped host memory", "events"},
          copies_beside_points,
          copies_beside<MappedAccess::read, device_to_host>},
      PrimitiveRow{
          {"mapped.write.beside.h2d", "kernels that write mapped host memory beside copies to the GPU", "events"},
          beside_points,
          mapped_beside<MappedAccess::write, host_to_device>},
      PrimitiveRow{
          {"copies.h2d.beside.write", "copies to the GPU beside kernels that write mapped host memory", "events"},
          copies_beside_points,
          copies_beside<MappedAccess::write, host_to_device>},
  };
  return rows;
}

}  // namespace shiplap
