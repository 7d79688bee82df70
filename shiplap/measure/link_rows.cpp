// Primitives of copies by copy engines: single copies, bursts, duplex, and copies beside waiting kernels.
#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

std::vector<Bytes> copy_sizes(const Setting& setting) {
  if (!quick(setting)) return powers_of_two(1_B, setting.largest);
  // Allocating memory for larger copies would take longer than all copies together.
  return no_larger_than(setting.largest, {1_B, 1_KiB, 16_KiB, 64_KiB, 256_KiB, 1_MiB, 4_MiB, 16_MiB, 64_MiB, 256_MiB});
}

std::vector<Bytes> up_to(const Setting& setting, Bytes limit, std::vector<Bytes> sizes, std::string_view what) {
  sizes = no_larger_than(std::min(limit, setting.largest), std::move(sizes));
  if (sizes.empty())
    throw Unsupported(fmt::format("no {} is within the largest copy, {}", what, to_string(setting.largest)));
  return sizes;
}

std::vector<Point> copy_points(const Setting& setting) { return size_points(copy_sizes(setting)); }

Point burst_point(Bytes size, unsigned few, unsigned many) {
  return point_over(fmt::format("{} x {}, {}", to_string(size), few, many), "copies", {1.0 * few, 1.0 * many},
                    {{"bytes", in_bytes(size)}});
}

// A long burst and one an eighth as long. Their difference contains copies only, no start and no end. The long one has
// at least 64 MiB in total or 512 copies, so that the resolution of the clock is negligible, and at least 4 copies.
std::vector<Point> burst_points(const Setting& setting) {
  std::vector<Point> points;
  for (const Bytes size : up_to(setting, 64_MiB, copy_sizes(setting), "burst")) {
    const auto many = static_cast<unsigned>(std::clamp<std::uint64_t>((64_MiB).count / size.count, 4, 512));
    points.push_back(burst_point(size, std::max(1u, many / 8), many));
  }
  return points;
}

// A long burst and one an eighth as long, concurrent with copies in the other direction that last longer.
std::vector<Point> duplex_points(const Setting& setting) {
  require_two_engines(setting);
  const std::vector<Bytes> sizes =
      quick(setting) ? std::vector<Bytes>{256_KiB, 1_MiB, 4_MiB, 16_MiB, 64_MiB} : powers_of_two(256_KiB, 256_MiB);
  std::vector<Point> points;
  for (const Bytes size : up_to(setting, 256_MiB, sizes, "copy in both directions")) {
    const auto many = static_cast<unsigned>(std::clamp<std::uint64_t>((64_MiB).count / size.count, 2, 128));
    points.push_back(burst_point(size, std::max(1u, many / 8), many));
  }
  return points;
}

// A long pipeline and a short one. The kernels are either in a stream of their own, or in the streams of their copies,
// so that kernels wait in several streams.
std::vector<Point> waiting_points(const Setting& setting) {
  const std::vector<Bytes> sizes =
      quick(setting) ? std::vector{1_MiB, 8_MiB} : std::vector{512_KiB, 1_MiB, 2_MiB, 4_MiB, 8_MiB};
  std::vector<Point> points;
  for (const Bytes size : up_to(setting, 8_MiB, sizes, "burst")) {
    const double few = 16;
    const double many = std::clamp(in_bytes(128_MiB) / in_bytes(size), 32.0, 80.0);
    Point point{fmt::format("{} x {}, {} in 1 and 4 streams", to_string(size), few, many), {}};
    for (const double streams : {1.0, 4.0})
      for (const double copies : {few, many})
        point.variants.push_back({{"bytes", in_bytes(size)}, {"copies", copies}, {"streams", streams}});
    points.push_back(std::move(point));
  }
  if (points.size() < 2) throw Unsupported("the largest copy leaves no two sizes to compare");
  return points;
}
std::vector<Point> waiting_points_of_both(const Setting& setting) {
  require_two_engines(setting);
  return waiting_points(setting);
}
Trial waiting(MeasurableDevice& device, const Arguments& arguments, CopyDirection way, bool duplex = false) {
  return empty_pipeline(device, {.way = way,
                                 .duplex = duplex,
                                 .size = bytes(arguments),
                                 .chunks = whole(arguments, "copies"),
                                 .streams = whole(arguments, "streams")});
}

// One copy in each of many streams. The end of the copy in the first stream is timed, and that in the second.
std::vector<Point> order_points(const Setting& setting) {
  const Bytes size = std::min(4_MiB, setting.largest);
  const double streams = 16;
  return {point_over(fmt::format("{} in each of {} streams", to_string(size), streams), "stream", {0, 1},
                     {{"bytes", in_bytes(size)}, {"streams", streams}})};
}

}  // namespace

std::vector<PrimitiveRow> link_rows() {
  RowTable rows;
  rows.add_each_way("copy.pinned.{h2d|d2h}", "one copy from {pinned memory to the GPU|the GPU to pinned memory}",
                    copy_points, copy_of(MemoryKind::pinned));
  rows.add_each_way("burst.pinned.{h2d|d2h}", "copies {to|from} the GPU back to back", burst_points, burst_of);
  rows.add_each_way("duplex.pinned.{h2d|d2h}", "copies {to|from} the GPU back to back while copies {from|to} it run",
                    duplex_points, [](CopyDirection way, MeasurableDevice&, const Arguments& arguments) {
                      return duplex_burst(way, bytes(arguments), whole(arguments, "copies"));
                    });
  rows.add_each_way("waiting.pinned.{h2d|d2h}",
                    "copies {to|from} the GPU while kernels of one stream wait, and of several", waiting_points,
                    [](CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
                      return waiting(device, arguments, way);
                    });
  rows.add("waiting.pinned.both", "duplex copies while kernels of one stream wait, and of several",
           waiting_points_of_both, [](MeasurableDevice& device, const Arguments& arguments) {
             return waiting(device, arguments, host_to_device, true);
           });
  rows.add("order.streams", "when the copies of several streams to the GPU start", order_points,
           [](MeasurableDevice& device, const Arguments& arguments) {
             return one_in_each(device, bytes(arguments), whole(arguments, "streams"), whole(arguments, "stream"));
           });
  return rows.all;
}

}  // namespace shiplap
