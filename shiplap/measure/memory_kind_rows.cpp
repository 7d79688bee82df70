// Primitives of copies of other host memory than pinned, of copies inside the GPU and over several streams, and of
// dependent loads.
#include <fmt/format.h>

#include <algorithm>

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
  for (const Bytes size : no_larger_than(setting.largest, {16_MiB, 64_MiB, 128_MiB}))
    points.push_back(
        point_over(fmt::format("{} x 2, 8", to_string(size)), "copies", {2, 8}, {{"bytes", in_bytes(size)}}));
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
  for (const Bytes footprint : no_larger_than(setting.largest, footprints))
    points.push_back(point_over(fmt::format("256, 2048 in {}", to_string(footprint)), "reads", {256, 2048},
                                {{"bytes", in_bytes(footprint)}}));
  if (points.empty()) throw Unsupported("the largest copy leaves no memory to read");
  return points;
}

std::vector<Point> one_byte(const Setting&) { return size_points({1_B}); }

auto chase_of(MemoryKind kind) {
  return [kind](MeasurableDevice& device, const Arguments& arguments) {
    return pointer_chase(device, kind, bytes(arguments), whole(arguments, "reads"));
  };
}

}  // namespace

std::vector<PrimitiveRow> memory_kind_rows() {
  using enum MemoryKind;
  RowTable rows;
  rows.add_each_way("copy.pageable.{h2d|d2h}", "one copy from {pageable memory to the GPU|the GPU to pageable memory}",
                    pageable_points, copy_of(pageable));
  rows.add("copy.pageable.both", "one copy in each direction with pageable memory, by two threads", both_points,
           duplex_of(pageable));
  rows.add_each_way("copy.pageable.{h2d|d2h}.flushed",
                    "the same as copy.pageable.{h2d|d2h} with nothing in the CPU's caches", flushed_points,
                    flushed_of(copy_of(pageable)));
  rows.add("copy.pageable.both.flushed", "the same as copy.pageable.both with nothing in the CPU's caches",
           flushed_both_points, flushed_of(duplex_of(pageable)));
  rows.add("copy.pinned.both", "one copy in each direction with pinned memory, by two threads", both_points,
           duplex_of(pinned));
  rows.add_each_way("copy.pinned.{h2d|d2h}.flushed",
                    "the same as copy.pinned.{h2d|d2h} with nothing in the CPU's caches", some_points,
                    flushed_of(copy_of(pinned)));
  rows.add("copy.pinned.both.flushed", "the same as copy.pinned.both with nothing in the CPU's caches",
           flushed_both_points, flushed_of(duplex_of(pinned)));
  rows.add_each_way("copy.driver_pinned.{h2d|d2h}",
                    "one copy {to|from} the GPU {from|to} memory that the driver allocated", some_points,
                    copy_of(driver_pinned));
  rows.add_way(host_to_device, "copy.write_combined.h2d", "one copy to the GPU from write-combined memory", some_points,
               copy_of(write_combined));
  rows.add_way(device_to_host, "copy.write_combined.d2h", "one copy from the GPU to write-combined memory",
               write_combined_points_to_host, copy_of(write_combined));
  rows.add("copy.device", "copies inside the memory of the GPU back to back", device_points,
           [](MeasurableDevice&, const Arguments& arguments) {
             return device_copies(bytes(arguments), whole(arguments, "copies"));
           });
  rows.add_each_way("spread.pinned.{h2d|d2h}", "copies {to|from} the GPU distributed over several streams",
                    spread_points, [](CopyDirection way, MeasurableDevice&, const Arguments& arguments) {
                      return spread_burst(way, bytes(arguments), whole(arguments, "copies"),
                                          whole(arguments, "streams"));
                    });
  rows.add_each_way("latency.copy.{h2d|d2h}",
                    "a copy of one byte {to|from} the GPU until the host knows that it has ended", one_byte,
                    copy_of(pinned), HostClock::completion);
  rows.add("latency.chase.host", "reads of host memory by one thread of the GPU, one after another", chase_points,
           chase_of(mapped));
  rows.add("latency.chase.device", "dependent loads from device memory", chase_points, chase_of(device));
  return rows.all;
}

}  // namespace shiplap
