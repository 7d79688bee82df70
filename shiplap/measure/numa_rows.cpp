// Primitives of copies and kernels with host memory on each NUMA node and threads bound to its cores.
#include <fmt/format.h>

#include <algorithm>

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

std::vector<Point> some_sizes(const Setting& setting) {
  const std::vector<Bytes> some =
      quick(setting) ? std::vector{4_KiB, 64_MiB, 256_MiB} : std::vector{4_KiB, 64_KiB, 1_MiB, 16_MiB, 64_MiB, 256_MiB};
  return size_points(no_larger_than(setting.largest, some));
}
Bytes large_size(const Setting& setting) { return std::min(64_MiB, setting.largest); }
std::vector<Point> one_large(const Setting& setting) { return size_points({large_size(setting)}); }
std::vector<Point> one_and_eight_threads(const Setting& setting) {
  return {point_by_threads(large_size(setting), 1), point_by_threads(large_size(setting), 8)};
}
std::vector<Point> two_and_six_kernels(const Setting& setting) {
  const Bytes size = large_size(setting);
  return {point_over(fmt::format("{} x 2, 6", to_string(size)), "count", {2, 6}, {{"bytes", in_bytes(size)}})};
}

/// Number of blocks whose accesses saturate the link to the near node. On an H200, 32 blocks do (profiles/h200.json).
constexpr std::uint64_t filling_blocks = 256;

Trial mapped_by_many_blocks(CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
  using enum ZeroCopyTrial::Access;
  return zero_copy_kernels(device, {.access = way == host_to_device ? read : write,
                                    .size = bytes(arguments),
                                    .kernels = whole(arguments, "count"),
                                    .blocks = filling_blocks});
}

}  // namespace

std::vector<PrimitiveRow> numa_rows() {
  using enum MemoryKind;
  RowTable rows;
  rows.add_each_way("numa.copy.pinned.{h2d|d2h}",
                    "one copy from {pinned memory of each NUMA node to the GPU|the GPU to pinned memory of each NUMA "
                    "node}",
                    some_sizes, copy_of(pinned));
  rows.add("numa.copy.pinned.both", "one copy in each direction with pinned memory of each NUMA node", one_large,
           duplex_of(pinned));
  rows.add_way(host_to_device, "numa.copy.pinned.h2d.flushed",
               "numa.copy.pinned.h2d with the CPU caches flushed before each copy", one_large,
               flushed_of(copy_of(pinned)));
  rows.add_each_way("numa.copy.pageable.{h2d|d2h}",
                    "one copy from {pageable memory of each NUMA node to the GPU|the GPU to pageable memory of each "
                    "NUMA node}",
                    some_sizes, copy_of(pageable));
  rows.add("numa.copy.pageable.both", "one copy in each direction with pageable memory of each NUMA node", one_large,
           duplex_of(pageable));
  rows.add_each_way("numa.mapped.{read|write}", "kernels that {read|write} mapped memory of each NUMA node",
                    two_and_six_kernels, mapped_by_many_blocks);
  rows.add(
      "numa.host.copy", "threads of each NUMA node that copy from pageable to pinned memory there",
      one_and_eight_threads,
      [](MeasurableDevice&, const Arguments& arguments) {
        return host_copies(bytes(arguments), whole(arguments, "threads"), false);
      },
      HostClock::completion);
  for (PrimitiveRow& row : rows.all) {
    row.points = [points = row.points](const Setting& setting) { return on_each_node(setting, points(setting)); };
    row.trial = [trial = row.trial](MeasurableDevice& device, const Arguments& arguments) {
      return on_node(trial(device, arguments), static_cast<std::uint16_t>(whole(arguments, "node")));
    };
  }
  return rows.all;
}

}  // namespace shiplap
