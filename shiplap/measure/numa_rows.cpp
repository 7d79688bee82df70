// Primitives of copies and kernels with host memory on each NUMA node and threads bound to its cores.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/measure/host_trial.hpp"
#include "shiplap/measure/rows.hpp"
#include "shiplap/measure/trial_variants.hpp"

namespace shiplap {
namespace {

/// Every point of `points` with memory on each node.
std::vector<Point> on_each_node(const Setting& setting, const std::vector<Point>& points) {
  if (setting.info.numa_nodes.size() < 2)
    throw Unsupported("this host has one NUMA node, which the other rows are measured on");
  std::vector<Point> all;
  for (const std::uint16_t node : setting.info.numa_nodes) {
    for (Point point : points) {
      point.label += fmt::format(" on node {}", node);
      for (Arguments& arguments : point.variants) arguments["node"] = node;
      all.push_back(std::move(point));
    }
  }
  return all;
}

std::vector<Point> sizes_on_nodes(const Setting& setting) {
  const std::vector<Bytes> some =
      quick(setting) ? std::vector{4_KiB, 64_MiB, 256_MiB} : std::vector{4_KiB, 64_KiB, 1_MiB, 16_MiB, 64_MiB, 256_MiB};
  return on_each_node(setting, size_points(no_larger_than(setting.largest, some)));
}
std::vector<Point> large_on_nodes(const Setting& setting) {
  return on_each_node(setting, size_points({std::min(64_MiB, setting.largest)}));
}
std::vector<Point> threads_on_nodes(const Setting& setting) {
  std::vector<Point> points;
  for (const double threads : {1.0, 8.0}) {
    Point point = size_points({std::min(64_MiB, setting.largest)}, {{"threads", threads}}).front();
    point.label += fmt::format(" by {} thread(s)", threads);
    points.push_back(std::move(point));
  }
  return on_each_node(setting, points);
}
std::vector<Point> kernels_on_nodes(const Setting& setting) {
  const Bytes size = std::min(64_MiB, setting.largest);
  Point point{fmt::format("{} x 2, 6", to_string(size)), {}};
  for (const double count : {2.0, 6.0}) point.variants.push_back({{"bytes", in_bytes(size)}, {"count", count}});
  return on_each_node(setting, {point});
}

/// Makes a trial on the node that the arguments name.
template <Trial (*trial)(MeasurableDevice&, const Arguments&)>
Trial placed(MeasurableDevice& device, const Arguments& arguments) {
  return on_node(trial(device, arguments), static_cast<std::uint16_t>(whole(arguments, "node")));
}

/// Number of blocks whose accesses saturate the link to the near node. On an H200, 32 blocks do (profiles/h200.json).
constexpr std::uint64_t filling_blocks = 256;

template <ZeroCopyTrial::Access access>
Trial mapped_by_many_blocks(MeasurableDevice& device, const Arguments& arguments) {
  return zero_copy_kernels(
      device,
      {.access = access, .size = bytes(arguments), .kernels = whole(arguments, "count"), .blocks = filling_blocks});
}
Trial host_copies_by_threads(MeasurableDevice&, const Arguments& arguments) {
  return host_copies(bytes(arguments), whole(arguments, "threads"), false);
}

}  // namespace

std::span<const PrimitiveRow> numa_rows() {
  static const std::array rows{
      PrimitiveRow{{"numa.copy.pinned.h2d", "one copy from pinned memory of each NUMA node to the GPU", "events"},
                   sizes_on_nodes,
                   placed<copy_of<host_to_device>>},
      PrimitiveRow{{"numa.copy.pinned.d2h", "one copy from the GPU to pinned memory of each NUMA node", "events"},
                   sizes_on_nodes,
                   placed<copy_of<device_to_host>>},
      PrimitiveRow{
          {"numa.copy.pinned.both", "one copy in each direction with pinned memory of each NUMA node", "events"},
          large_on_nodes,
          placed<duplex_of<MemoryKind::pinned>>},
      PrimitiveRow{{"numa.copy.pinned.h2d.flushed", "numa.copy.pinned.h2d with the CPU caches flushed before each copy",
                    "events"},
                   large_on_nodes,
                   placed<flushed_copy_of<host_to_device>>},
      PrimitiveRow{{"numa.copy.pageable.h2d", "one copy from pageable memory of each NUMA node to the GPU", "events"},
                   sizes_on_nodes,
                   placed<copy_of<host_to_device, MemoryKind::pageable>>},
      PrimitiveRow{{"numa.copy.pageable.d2h", "one copy from the GPU to pageable memory of each NUMA node", "events"},
                   sizes_on_nodes,
                   placed<copy_of<device_to_host, MemoryKind::pageable>>},
      PrimitiveRow{
          {"numa.copy.pageable.both", "one copy in each direction with pageable memory of each NUMA node", "events"},
          large_on_nodes,
          placed<duplex_of<MemoryKind::pageable>>},
      PrimitiveRow{{"numa.mapped.read", "kernels that read mapped memory of each NUMA node", "events"},
                   kernels_on_nodes,
                   placed<mapped_by_many_blocks<ZeroCopyTrial::Access::read>>},
      PrimitiveRow{{"numa.mapped.write", "kernels that write mapped memory of each NUMA node", "events"},
                   kernels_on_nodes,
                   placed<mapped_by_many_blocks<ZeroCopyTrial::Access::write>>},
      PrimitiveRow{
          {"numa.host.copy", "threads of each NUMA node that copy from pageable to pinned memory there", "host"},
          threads_on_nodes,
          placed<host_copies_by_threads>,
          HostClock::completion},
  };
  return rows;
}

}  // namespace shiplap
