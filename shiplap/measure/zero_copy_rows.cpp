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
Point mapped_point(std::uint64_t blocks, Bytes size, double width, std::pair<double, double> counts) {
  Point point{fmt::format("{} blocks, {}, {} bytes an access", blocks, to_string(size), width), {}};
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
std::pair<double, double> mapped_counts(const Setting& setting, Bytes size, std::uint64_t blocks, double few = 2,
                                        double many = 7) {
  const bool all = !quick(setting) && blocks >= 8 && size >= 2_MiB;
  const double touched = in_bytes(mapped_footprint) * (all ? 0.875 : 0.21875);
  const double more = std::max(1.0, touched / in_bytes(size) / many);
  return {std::round(few * more), std::round(many * more)};
}

// Where much is under way, a launch must be long beside it.
std::vector<Point> mapped_points(const Setting& setting) {
  const auto grids = possible_grids(
      setting, quick(setting) ? std::vector<std::uint64_t>{1, 4, 16, 32}
                              : std::vector<std::uint64_t>{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96});
  std::vector<Point> points;
  for (const double width : quick(setting) ? std::vector{16.0} : std::vector{4.0, 8.0, 16.0})
    for (const std::uint64_t blocks : grids)
      if (width == 16 || blocks == 4 || blocks == 16 || blocks == 64 || blocks == grids.back())
        points.push_back(blocks > 64 ? mapped_point(blocks, std::min(64_MiB, setting.largest), width, {1, 4})
                                     : mapped_point(blocks, 8_MiB, width, mapped_counts(setting, 8_MiB, blocks)));
  return points;
}
// Kernels that go around in more memory than those of the other rows, once and once and a half: how fast they are is a
// matter of the GPU's translations of addresses. Enough blocks for waiting translations to show, too few for the link.
std::vector<Point> far_points(const Setting& setting) {
  constexpr Bytes size = 16_MiB;
  not_in_quick(setting);
  if (setting.largest < size) throw Unsupported("the largest copy asked for is smaller than the 16 MiB of a launch");
  std::vector<Point> points;
  for (const Bytes footprint : {384_MiB, 1_GiB}) {
    const double once = in_bytes(footprint) / in_bytes(size);
    Point point = mapped_point(16, size, 16, {once, std::round(1.5 * once)});
    point.label += ", in " + to_string(footprint);
    for (Arguments& variant : point.variants) variant["footprint"] = in_bytes(footprint);
    points.push_back(std::move(point));
  }
  return points;
}
// Few blocks, which do not wait for each other.
std::vector<Point> map_points(const Setting& setting) {
  const auto grids = possible_grids(setting, {16});
  return {mapped_point(grids.front(), 8_MiB, 16, mapped_counts(setting, 8_MiB, grids.front()))};
}

/// A copy engine against kernels: the pairs that hybrid pipelines consist of over launches of several sizes.
std::vector<Point> points_beside(const Setting& setting, bool pipelines,
                                 const std::function<std::pair<double, double>(Bytes, std::uint64_t)>& counts) {
  const auto grids = possible_grids(setting, quick(setting) ? std::vector<std::uint64_t>{4, 32}
                                                            : std::vector<std::uint64_t>{1, 4, 8, 16, 24, 32, 48, 64});
  // Beside short and long launches the rates change less from grid to grid.
  const auto wanted = [](Bytes size, std::uint64_t blocks) {
    if (size < 8_MiB) return blocks == 1 || blocks == 4 || blocks == 16 || blocks == 32 || blocks > 64;
    return size == 8_MiB || blocks >= 4;
  };
  std::vector<Point> points;
  for (const Bytes size : quick(setting) || !pipelines ? std::vector{8_MiB} : std::vector{1_MiB, 8_MiB, 32_MiB})
    for (const std::uint64_t blocks : grids)
      if (size <= setting.largest && wanted(size, blocks))
        points.push_back(mapped_point(blocks, size, 16, counts(size, blocks)));
  return points;
}
/// Of which the kernels are timed.
template <bool pipelines>
std::vector<Point> beside_points(const Setting& setting) {
  std::vector<Point> points = points_beside(
      setting, pipelines, [&](Bytes size, std::uint64_t blocks) { return mapped_counts(setting, size, blocks); });
  const Bytes copy = std::min(long_copy_beside, setting.largest);
  for (Point& point : points)
    for (Arguments& variant : point.variants) variant["copy"] = in_bytes(copy);
  return points;
}
/// Of which the copies are counted: short ones and long ones.
template <bool pipelines>
std::vector<Point> copies_beside_points(const Setting& setting) {
  std::vector<Point> points;
  for (const auto& [copy, counts] :
       {std::pair{short_copy_beside, std::pair{2.0, 12.0}}, {long_copy_beside, std::pair{1.0, 4.0}}}) {
    if (copy > setting.largest) continue;
    for (Point& point : points_beside(setting, pipelines, [&](Bytes, std::uint64_t) { return counts; })) {
      point.label += ", copies of " + to_string(copy);
      for (Arguments& variant : point.variants) variant["copy"] = in_bytes(copy);
      points.push_back(std::move(point));
    }
  }
  return points;
}

// Where kernels and copies take about as long.
std::vector<Point> step_points(const Setting& setting) {
  std::vector<Point> points = points_beside(setting, true, [&](Bytes size, std::uint64_t blocks) {
    return size < 32_MiB ? mapped_counts(setting, size, blocks, 5, 17) : std::pair{4.0, 10.0};
  });
  std::erase_if(points, [&](const Point& point) {
    const double blocks = point.variants.front().at("blocks");
    return point.variants.front().at("bytes") < in_bytes(8_MiB) || blocks < 16 ||
           blocks > 2.0 * setting.info.multiprocessors;
  });
  return points;
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
Trial mapped(Device& device, const Arguments& arguments) {
  return mapped_kernels(device, kernels_of(access, arguments, whole(arguments, "count")));
}
/// The kernels are timed, and the copies outlast them.
template <MappedAccess access, CopyDirection way>
Trial mapped_beside(Device& device, const Arguments& arguments) {
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
/// As a pipeline has it: a copy starts when the kernel beside it does.
Trial copies_in_step(Device& device, const Arguments& arguments) {
  return lock_step(device, kernels_of(MappedAccess::read, arguments, whole(arguments, "count")));
}
/// The copies are timed, and the kernels outlast them.
template <MappedAccess access, CopyDirection way>
Trial copies_beside(Device& device, const Arguments& arguments) {
  const unsigned copies = whole(arguments, "count");
  const Bytes copy = copy_size_beside(arguments);
  // GB/s: what long copies of an H200 come down to beside kernels that move the same way, and beside launches of 32, 8
  // and 1 MiB of others, short ones to half of that; kernels have 55 at most, and 20 (3.5) a block that writes (reads).
  const bool full = arguments.at("blocks") > 2.0 * device.info().multiprocessors;
  const Bytes launch = bytes(arguments);
  const bool same_way = (access == MappedAccess::read) == (way == host_to_device);
  const double beside_long = launch < 8_MiB ? (full ? 20 : 35) : full ? 3.5 : same_way ? 7 : launch > 8_MiB ? 9 : 15;
  const double slowest = beside_long / (copy < long_copy_beside ? 2 : 1);
  const double fastest = std::min(55.0, (access == MappedAccess::write ? 20 : 3.5) * arguments.at("blocks"));
  const double kernels = copies * in_bytes(copy) / in_bytes(launch);
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
      PrimitiveRow{{"mapped.read.far", "kernels that read much mapped host memory", "events"},
                   far_points,
                   [](Device& device, const Arguments& arguments) {
                     MappedKernels wanted = kernels_of(MappedAccess::read, arguments, whole(arguments, "count"));
                     wanted.footprint = Bytes{static_cast<std::uint64_t>(arguments.at("footprint"))};
                     return mapped_kernels(device, wanted);
                   }},
      PrimitiveRow{
          {"mapped.read.beside.h2d", "kernels that read mapped host memory beside copies to the GPU", "events"},
          beside_points<false>,
          mapped_beside<MappedAccess::read, host_to_device>},
      PrimitiveRow{
          {"copies.h2d.beside.read", "copies to the GPU beside kernels that read mapped host memory", "events"},
          copies_beside_points<false>,
          copies_beside<MappedAccess::read, host_to_device>},
      PrimitiveRow{
          {"mapped.read.beside.d2h", "kernels that read mapped host memory beside copies from the GPU", "events"},
          beside_points<true>,
          mapped_beside<MappedAccess::read, device_to_host>},
      PrimitiveRow{{"copies.d2h.in_step.read", "copies from the GPU in step with kernels that read mapped host memory",
                    "events"},
                   step_points,
                   copies_in_step},
      PrimitiveRow{
          {"copies.d2h.beside.read", "copies from the GPU beside kernels that read mapped host memory", "events"},
          copies_beside_points<true>,
          copies_beside<MappedAccess::read, device_to_host>},
      PrimitiveRow{
          {"mapped.write.beside.h2d", "kernels that write mapped host memory beside copies to the GPU", "events"},
          beside_points<true>,
          mapped_beside<MappedAccess::write, host_to_device>},
      PrimitiveRow{
          {"copies.h2d.beside.write", "copies to the GPU beside kernels that write mapped host memory", "events"},
          copies_beside_points<true>,
          copies_beside<MappedAccess::write, host_to_device>},
      PrimitiveRow{
          {"mapped.write.beside.d2h", "kernels that write mapped host memory beside copies from the GPU", "events"},
          beside_points<false>,
          mapped_beside<MappedAccess::write, device_to_host>},
      PrimitiveRow{
          {"copies.d2h.beside.write", "copies from the GPU beside kernels that write mapped host memory", "events"},
          copies_beside_points<false>,
          copies_beside<MappedAccess::write, device_to_host>},
      PrimitiveRow{{"kernel.map", "kernels that read and write device memory with few threads", "events"},
                   map_points,
                   mapped<MappedAccess::none>},
  };
  return rows;
}

}  // namespace shiplap
