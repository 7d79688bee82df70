// Primitives of copies of other host memory than pinned, of copies inside the GPU and over several streams, and of
// dependent loads.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

std::vector<Bytes> few_sizes(const Setting& setting, Bytes limit) {
  const std::vector<Bytes> sizes =
      quick(setting) ? std::vector<Bytes>{4_KiB, 1_MiB, 64_MiB} : powers_of_two(1_B, 256_MiB, 2);
  return no_larger_than(std::min(limit, setting.largest), sizes);
}

std::vector<Point> pageable_points(const Setting& setting) { return size_points(few_sizes(setting, 256_MiB)); }

// A few sizes, for duplex copies, copies that bypass the caches, and kinds of memory that programs seldom use.
std::vector<Point> some_points(const Setting& setting) {
  not_in_quick(setting);
  return size_points(no_larger_than(setting.largest, {4_KiB, 64_KiB, 1_MiB, 16_MiB, 64_MiB}));
}
std::vector<Point> flushed_points(const Setting& setting) {
  std::vector<Point> points = some_points(setting);
  for (Point& point : size_points(no_larger_than(setting.largest, {256_MiB}))) points.push_back(std::move(point));
  return points;
}
// Small sizes only, because the host verifies the bytes and reads write-combined memory at a hundredth of the usual
// rate.
std::vector<Point> write_combined_points_to_host(const Setting& setting) {
  not_in_quick(setting);
  return size_points(no_larger_than(setting.largest, {4_KiB, 64_KiB, 1_MiB, 4_MiB}));
}
std::vector<Point> both_points(const Setting& setting) {
  require_two_engines(setting);
  return some_points(setting);
}

// The sizes are among those of both_points, so that a point with cached memory stands beside each. Caches of today hold
// both buffers of the larger size.
std::vector<Point> flushed_both_points(const Setting& setting) {
  require_two_engines(setting);
  not_in_quick(setting);
  return size_points(no_larger_than(setting.largest, {1_MiB, 16_MiB}));
}

std::vector<Point> device_points(const Setting& setting) {
  std::vector<Point> points;
  for (const Bytes size : no_larger_than(setting.largest, {16_MiB, 64_MiB, 128_MiB})) {
    Point point{fmt::format("{} x 2, 8", to_string(size)), {}};
    for (const double copies : {2.0, 8.0}) point.variants.push_back({{"bytes", in_bytes(size)}, {"copies", copies}});
    points.push_back(std::move(point));
  }
  if (points.empty()) throw Unsupported("the largest copy leaves no size beyond the GPU's caches");
  return points;
}

std::vector<Point> spread_points(const Setting& setting) {
  not_in_quick(setting);
  const Bytes size = std::min(4_MiB, setting.largest);
  std::vector<Point> points;
  for (const double streams : {1.0, 2.0, 4.0, 8.0, 16.0})
    points.push_back({fmt::format("{} x 32 over {} stream(s)", to_string(size), streams),
                      {{{"bytes", in_bytes(size)}, {"copies", 32}, {"streams", streams}}}});
  return points;
}

std::vector<Point> chase_points(const Setting& setting) {
  std::vector<Bytes> footprints{2_MiB};
  if (!quick(setting)) footprints.push_back(64_MiB);
  std::vector<Point> points;
  for (const Bytes footprint : no_larger_than(setting.largest, footprints)) {
    Point point{fmt::format("256, 2048 in {}", to_string(footprint)), {}};
    for (const double reads : {256.0, 2048.0})
      point.variants.push_back({{"bytes", in_bytes(footprint)}, {"reads", reads}});
    points.push_back(std::move(point));
  }
  if (points.empty()) throw Unsupported("the largest copy leaves no memory to read");
  return points;
}

std::vector<Point> one_byte(const Setting&) { return size_points({1_B}); }

template <CopyDirection way>
Trial spread_over_streams(MeasurableDevice&, const Arguments& arguments) {
  return spread_burst(way, bytes(arguments), whole(arguments, "copies"), whole(arguments, "streams"));
}
template <MemoryKind kind>
Trial chase_of(MeasurableDevice& device, const Arguments& arguments) {
  return pointer_chase(device, kind, bytes(arguments), whole(arguments, "reads"));
}

}  // namespace

std::span<const PrimitiveRow> memory_kind_rows() {
  static const std::array rows{
      PrimitiveRow{{"copy.pageable.h2d", "one copy from pageable memory to the GPU", "events"},
                   pageable_points,
                   copy_of<host_to_device, MemoryKind::pageable>},
      PrimitiveRow{{"copy.pageable.d2h", "one copy from the GPU to pageable memory", "events"},
                   pageable_points,
                   copy_of<device_to_host, MemoryKind::pageable>},
      PrimitiveRow{{"copy.pageable.both", "one copy in each direction with pageable memory, by two threads", "events"},
                   both_points,
                   duplex_of<MemoryKind::pageable>},
      PrimitiveRow{
          {"copy.pageable.h2d.flushed", "the same as copy.pageable.h2d with nothing in the CPU's caches", "events"},
          flushed_points,
          flushed_copy_of<host_to_device, MemoryKind::pageable>},
      PrimitiveRow{
          {"copy.pageable.d2h.flushed", "the same as copy.pageable.d2h with nothing in the CPU's caches", "events"},
          flushed_points,
          flushed_copy_of<device_to_host, MemoryKind::pageable>},
      PrimitiveRow{
          {"copy.pageable.both.flushed", "the same as copy.pageable.both with nothing in the CPU's caches", "events"},
          flushed_both_points,
          flushed_duplex_of<MemoryKind::pageable>},
      PrimitiveRow{{"copy.pinned.both", "one copy in each direction with pinned memory, by two threads", "events"},
                   both_points,
                   duplex_of<MemoryKind::pinned>},
      PrimitiveRow{
          {"copy.pinned.h2d.flushed", "the same as copy.pinned.h2d with nothing in the CPU's caches", "events"},
          some_points,
          flushed_copy_of<host_to_device>},
      PrimitiveRow{
          {"copy.pinned.d2h.flushed", "the same as copy.pinned.d2h with nothing in the CPU's caches", "events"},
          some_points,
          flushed_copy_of<device_to_host>},
      PrimitiveRow{
          {"copy.pinned.both.flushed", "the same as copy.pinned.both with nothing in the CPU's caches", "events"},
          flushed_both_points,
          flushed_duplex_of<MemoryKind::pinned>},
      PrimitiveRow{{"copy.driver_pinned.h2d", "one copy to the GPU from memory that the driver allocated", "events"},
                   some_points,
                   copy_of<host_to_device, MemoryKind::driver_pinned>},
      PrimitiveRow{{"copy.driver_pinned.d2h", "one copy from the GPU to memory that the driver allocated", "events"},
                   some_points,
                   copy_of<device_to_host, MemoryKind::driver_pinned>},
      PrimitiveRow{{"copy.write_combined.h2d", "one copy to the GPU from write-combined memory", "events"},
                   some_points,
                   copy_of<host_to_device, MemoryKind::write_combined>},
      PrimitiveRow{{"copy.write_combined.d2h", "one copy from the GPU to write-combined memory", "events"},
                   write_combined_points_to_host,
                   copy_of<device_to_host, MemoryKind::write_combined>},
      PrimitiveRow{{"copy.device", "copies inside the memory of the GPU back to back", "events"},
                   device_points,
                   [](MeasurableDevice&, const Arguments& arguments) {
                     return device_copies(bytes(arguments), whole(arguments, "copies"));
                   }},
      PrimitiveRow{{"spread.pinned.h2d", "copies to the GPU distributed over several streams", "events"},
                   spread_points,
                   spread_over_streams<host_to_device>},
      PrimitiveRow{{"spread.pinned.d2h", "copies from the GPU distributed over several streams", "events"},
                   spread_points,
                   spread_over_streams<device_to_host>},
      PrimitiveRow{{"latency.copy.h2d", "a copy of one byte to the GPU until the host knows that it has ended", "host"},
                   one_byte,
                   copy_of<host_to_device>,
                   HostClock::completion},
      PrimitiveRow{
          {"latency.copy.d2h", "a copy of one byte from the GPU until the host knows that it has ended", "host"},
          one_byte,
          copy_of<device_to_host>,
          HostClock::completion},
      PrimitiveRow{{"latency.chase.host", "reads of host memory by one thread of the GPU, one after another", "events"},
                   chase_points,
                   chase_of<MemoryKind::mapped>},
      PrimitiveRow{{"latency.chase.device", "dependent loads from device memory", "events"},
                   chase_points,
                   chase_of<MemoryKind::device>},
  };
  return rows;
}

}  // namespace shiplap
