// The same ways with host memory on each NUMA node, and threads that keep to its cores.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/measure/host_trial.hpp"
#include "shiplap/measure/rows.hpp"
#include "shiplap/measure/trial_variants.hpp"

namespace shiplap {
namespace {

constexpr auto to_device = CopyDirection::host_to_device;
constexpr auto to_host = CopyDirection::device_to_host;

/// Each of `points` on each node.
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

std::vector<Point> sizes(const Setting& setting) {
  const std::vector<Bytes> some =
      quick(setting) ? std::vector{4_KiB, 64_MiB, 256_MiB} : std::vector{4_KiB, 64_KiB, 1_MiB, 16_MiB, 64_MiB, 256_MiB};
  return on_each_node(setting, size_points(no_larger_than(setting.largest, some)));
}
std::vector<Point> large(const Setting& setting) {
  return on_each_node(setting, size_points({std::min(64_MiB, setting.largest)}));
}
std::vector<Point> by_threads(const Setting& setting) {
  std::vector<Point> points;
  for (const double threads : {1.0, 8.0}) {
    Point point = size_points({std::min(64_MiB, setting.largest)}, {{"threads", threads}}).front();
    point.label += fmt::format(" by {} thread(s)", threads);
    points.push_back(std::move(point));
  }
  return on_each_node(setting, points);
}
std::vector<Point> kernels(const Setting& setting) {
  const Bytes size = std::min(64_MiB, setting.largest);
  Point point{fmt::format("{} x 2, 6", to_string(size)), {}};
  for (const double count : {2.0, 6.0}) point.variants.push_back({{"bytes", number(size)}, {"count", count}});
  return on_each_node(setting, {point});
}

/// A trial on the node that its arguments name.
template <Trial (*trial)(Device&, const Arguments&)>
Trial placed(Device& device, const Arguments& arguments) {
  return on_node(trial(device, arguments), static_cast<std::uint16_t>(whole(arguments, "node")));
}

template <CopyDirection way, MemoryKind kind>
Trial copy(Device&, const Arguments& arguments) {
  return copy_burst(way, bytes(arguments), 1, kind);
}
template <MemoryKind kind>
Trial both(Device&, const Arguments& arguments) {
  return both_ways(bytes(arguments), kind);
}
template <CopyDirection way, MemoryKind kind>
Trial flushed(Device&, const Arguments& arguments) {
  return flushed_copy(way, bytes(arguments), kind);
}
// As many blocks as fill the link from the near node.
template <MappedKernels::Access access>
Trial mapped(Device& device, const Arguments& arguments) {
  constexpr std::uint64_t blocks = 256;
  return mapped_kernels(
      device, {.access = access, .size = bytes(arguments), .kernels = whole(arguments, "count"), .blocks = blocks});
}
Trial host(Device&, const Arguments& arguments) {
  return host_copies(bytes(arguments), whole(arguments, "threads"), false);
}

constexpr auto pageable = MemoryKind::pageable;
constexpr auto pinned = MemoryKind::pinned;

const std::array rows{
    PrimitiveRow{{"numa.copy.pinned.h2d", "one copy from pinned memory of each NUMA node to the GPU", "events"},
                 sizes,
                 placed<copy<to_device, pinned>>},
    PrimitiveRow{{"numa.copy.pinned.d2h", "one copy from the GPU to pinned memory of each NUMA node", "events"},
                 sizes,
                 placed<copy<to_host, pinned>>},
    PrimitiveRow{{"numa.copy.pinned.both", "one copy each way of pinned memory of each NUMA node", "events"},
                 large,
                 placed<both<pinned>>},
    PrimitiveRow{{"numa.copy.pinned.h2d.flushed", "the same as numa.copy.pinned.h2d past the CPU's caches", "events"},
                 large,
                 placed<flushed<to_device, pinned>>},
    PrimitiveRow{{"numa.copy.pageable.h2d", "one copy from pageable memory of each NUMA node to the GPU", "events"},
                 sizes,
                 placed<copy<to_device, pageable>>},
    PrimitiveRow{{"numa.copy.pageable.d2h", "one copy from the GPU to pageable memory of each NUMA node", "events"},
                 sizes,
                 placed<copy<to_host, pageable>>},
    PrimitiveRow{{"numa.copy.pageable.both", "one copy each way of pageable memory of each NUMA node", "events"},
                 large,
                 placed<both<pageable>>},
    PrimitiveRow{{"numa.mapped.read", "kernels that read mapped memory of each NUMA node", "events"},
                 kernels,
                 placed<mapped<MappedKernels::Access::read>>},
    PrimitiveRow{{"numa.mapped.write", "kernels that write mapped memory of each NUMA node", "events"},
                 kernels,
                 placed<mapped<MappedKernels::Access::write>>},
    PrimitiveRow{{"numa.host.copy", "threads of each NUMA node that copy from pageable to pinned memory there", "host"},
                 by_threads,
                 placed<host>,
                 HostClock::completion},
};

}  // namespace

std::span<const PrimitiveRow> numa_rows() { return rows; }

}  // namespace shiplap
