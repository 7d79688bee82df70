// Primitives of managed memory that moves because of a prefetch or a page fault.
#include <fmt/format.h>

#include <algorithm>

#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/host_trial.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

std::vector<Bytes> managed_sizes(const Setting& setting) {
  const std::vector<Bytes> sizes =
      quick(setting) ? std::vector<Bytes>{64_KiB, 32_MiB} : std::vector<Bytes>{4_KiB, 64_KiB, 1_MiB, 16_MiB, 128_MiB};
  return no_larger_than(setting.largest, sizes);
}

std::vector<Point> managed_moves(const Setting& setting) { return size_points(managed_sizes(setting)); }

std::vector<Point> large_managed_moves(const Setting& setting) {
  not_in_quick(setting);
  return size_points(no_larger_than(setting.largest, {1_MiB, 64_MiB}));
}

std::vector<Point> demand_by_threads(const Setting& setting) {
  const std::vector<double> threads = quick(setting) ? std::vector{1.0, 4.0} : std::vector{1.0, 2.0, 4.0, 8.0, 16.0};
  const Bytes size = std::min(quick(setting) ? 16_MiB : 64_MiB, setting.largest);
  std::vector<Point> points;
  for (const double t : threads) points.push_back(point_by_threads(size, t));
  return points;
}

std::vector<Point> fault_points(const Setting& setting) {
  not_in_quick(setting);
  return {count_point("faults", {4, 20})};
}

std::vector<Point> points_of_orders(const Setting& setting) {
  return size_points(no_larger_than(setting.largest, {16_MiB}));
}

/// The row of a kernel that reads managed memory on the host.
auto reading(ProbeKind order, MemoryAdvice advice = MemoryAdvice::none) {
  return [=](MeasurableDevice& device, const Arguments& arguments) {
    return demand_in_order(device, bytes(arguments), order, advice);
  };
}

}  // namespace

std::vector<PrimitiveRow> managed_rows() {
  RowTable rows;
  rows.add_each_way(
      "prefetch.{h2d|d2h}", "a prefetch of managed memory to the {GPU|host}", managed_moves,
      [](CopyDirection way, MeasurableDevice&, const Arguments& arguments) { return prefetch(way, bytes(arguments)); });
  rows.add(
      "prefetch.both", "a prefetch in each direction at once, by two threads", large_managed_moves,
      [](MeasurableDevice&, const Arguments& arguments) { return prefetch_duplex(bytes(arguments)); },
      HostClock::completion);
  rows.add(
      "demand.h2d", "a kernel that touches every page of managed memory on the host", managed_moves,
      [](MeasurableDevice& device, const Arguments& arguments) { return demand_by_kernel(device, bytes(arguments)); });
  rows.add(
      "demand.d2h", "host threads that touch every page of managed memory on the GPU", demand_by_threads,
      [](MeasurableDevice&, const Arguments& arguments) {
        return demand_by_host(bytes(arguments), whole(arguments, "threads"));
      },
      HostClock::completion);
  rows.add("latency.fault.gpu", "a kernel that touches one page of managed memory on the host, and so on", fault_points,
           [](MeasurableDevice& device, const Arguments& arguments) {
             return faults_of_kernels(device, whole(arguments, "faults"));
           });
  rows.add(
      "latency.fault.host", "a host thread that touches one page after the other on the GPU", fault_points,
      [](MeasurableDevice&, const Arguments& arguments) { return faults_of_the_host(whole(arguments, "faults")); },
      HostClock::completion);
  rows.add(
      "demand.both", "a kernel and a host thread that touch managed memory of the other side at once",
      large_managed_moves,
      [](MeasurableDevice& device, const Arguments& arguments) { return demand_duplex(device, bytes(arguments)); },
      HostClock::completion);
  rows.add("demand.h2d.sequential", "a kernel that reads managed memory on the host in order", points_of_orders,
           reading(ProbeKind::map));
  rows.add("demand.h2d.strided", "the same, 16 B at a time, a page apart", points_of_orders,
           reading(ProbeKind::strided));
  rows.add("demand.h2d.random", "the same, 16 B at a time, in random order", points_of_orders,
           reading(ProbeKind::random));
  rows.add("demand.h2d.read-mostly", "the same in order, with advice that the memory is mostly read", points_of_orders,
           reading(ProbeKind::map, MemoryAdvice::read_mostly));
  return rows.all;
}

}  // namespace shiplap
