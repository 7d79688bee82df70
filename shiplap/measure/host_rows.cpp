// What host threads do: copies, pageable memory through pinned rings, calls that pin and allocate; and three ways to
// time one kernel.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/device/host_work.hpp"
#include "shiplap/measure/host_trial.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

std::vector<double> thread_counts(const Setting& setting) {
  if (quick(setting)) return {1, 8};
  return {1, 2, 4, 8, 16};
}

std::vector<Point> copies_by_threads(const Setting& setting, Bytes size, double least) {
  std::vector<Point> points;
  for (const double t : thread_counts(setting))
    if (t >= least)
      points.push_back(
          {fmt::format("{} by {} thread(s)", to_string(size), t), {{{"bytes", in_bytes(size)}, {"threads", t}}}});
  return points;
}

std::vector<Point> copies_one_way(const Setting& setting) {
  return copies_by_threads(setting, std::min(quick(setting) ? 64_MiB : 128_MiB, setting.largest), 1);
}
std::vector<Point> copies_both_ways(const Setting& setting) {
  not_in_quick(setting);
  return copies_by_threads(setting, std::min(128_MiB, setting.largest), 2);
}

Point staged_point(Bytes size, Bytes piece, double threads) {
  return {fmt::format("{} in pieces of {} by {} thread(s)", to_string(size), to_string(piece), threads),
          {{{"bytes", in_bytes(size)}, {"piece", in_bytes(piece)}, {"threads", threads}}}};
}

// Each ring gets its pieces at least twice.
std::vector<Point> staged_points(const Setting& setting) {
  not_in_quick(setting);
  const Bytes size = staging_piece * (std::min(128_MiB, setting.largest).count / staging_piece.count);
  std::vector<Point> points;
  for (const double t : thread_counts(setting))
    if (t * 2 * in_bytes(staging_piece) <= in_bytes(size)) points.push_back(staged_point(size, staging_piece, t));
  if (points.empty()) throw Unsupported("the largest copy leaves nothing to cut into pieces of 4 MiB");
  return points;
}

// And in pieces that stay in the caches of the cores.
std::vector<Point> staged_to_gpu_points(const Setting& setting) {
  std::vector<Point> points = staged_points(setting);
  for (const Bytes piece : no_larger_than(setting.largest, {64_KiB, 256_KiB, 1_MiB}))
    points.push_back(staged_point(piece * std::min<std::uint64_t>(128, setting.largest.count / piece.count), piece, 8));
  return points;
}

// Both ways, between arrays that are larger than the caches of the CPU: it writes back what the threads write.
std::vector<Point> staged_both_points(const Setting& setting) {
  not_in_quick(setting);
  std::vector<Point> points;
  for (const double t : thread_counts(setting))
    for (const Bytes piece : {staging_piece, 16_MiB}) {
      const Bytes size = piece * (std::min(512_MiB, setting.largest).count / piece.count);
      if (t < 2 || (t < 8 && piece != staging_piece) || in_bytes(size) < in_bytes(piece) * t) continue;
      points.push_back(staged_point(size, piece, t));
    }
  if (points.empty()) throw Unsupported("the largest copy leaves nothing to cut into pieces");
  return points;
}

std::vector<Point> call_points(const Setting& setting) {
  not_in_quick(setting);
  return size_points(no_larger_than(setting.largest, {64_KiB, 4_MiB, 64_MiB}));
}
std::vector<Point> pin_points(const Setting& setting) {
  if (quick(setting)) return size_points(no_larger_than(setting.largest, {64_KiB, 64_MiB}));
  return size_points(no_larger_than(setting.largest, {4_KiB, 64_KiB, 1_MiB, 16_MiB, 256_MiB, 1_GiB}));
}
std::vector<Point> flush_points(const Setting& setting) {
  if (!can_flush_caches()) throw Unsupported("this build has no instruction that flushes the caches of this CPU");
  return call_points(setting);
}
std::vector<Point> host_kernel_points(const Setting& setting) {
  not_in_quick(setting);
  return size_points({std::min(64_MiB, setting.largest)});
}

template <HostCall::Kind kind, MemoryKind memory>
Trial call(MeasurableDevice&, const Arguments& arguments) {
  return host_call(kind, memory, bytes(arguments));
}
template <CopyDirection... way>
Trial through_rings(MeasurableDevice&, const Arguments& arguments) {
  return staged({.way = {way...},
                 .size = bytes(arguments),
                 .piece = {static_cast<std::uint64_t>(arguments.at("piece"))},
                 .threads = whole(arguments, "threads")});
}
Trial one_kernel(MeasurableDevice& device, const Arguments& arguments) {
  return single_kernel(device, ProbeKernel::Kind::stream, 1, arguments.at("bytes"));
}

using Call = HostCall::Kind;

template <Call kind, MemoryKind memory>
PrimitiveRow call_row(std::string_view name, std::string_view summary, std::vector<Point> (*points)(const Setting&)) {
  return {{name, summary, "host"}, points, call<kind, memory>, HostClock::operation};
}

template <Call kind>
PrimitiveRow queue_row(std::string_view name, std::string_view summary) {
  return {{name, summary, "host"},
          [](const Setting&) -> std::vector<Point> {
            return {{"one queue", {Arguments{}}}};
          },
          [](MeasurableDevice&, const Arguments&) { return queue_call(kind); },
          HostClock::operation};
}

}  // namespace

std::span<const PrimitiveRow> host_rows() {
  static const std::array rows{
      PrimitiveRow{{"host.copy", "host threads that copy from pageable to pinned memory", "host"},
                   copies_one_way,
                   [](MeasurableDevice&, const Arguments& arguments) {
                     return host_copies(bytes(arguments), whole(arguments, "threads"), false);
                   },
                   HostClock::completion},
      PrimitiveRow{{"host.copy.both", "host threads that copy, half of them from pageable to pinned memory", "host"},
                   copies_both_ways,
                   [](MeasurableDevice&, const Arguments& arguments) {
                     return host_copies(bytes(arguments), whole(arguments, "threads"), true);
                   },
                   HostClock::completion},
      PrimitiveRow{{"staged.h2d", "pageable memory to the GPU through the pinned ring of each thread", "host"},
                   staged_to_gpu_points,
                   through_rings<CopyDirection::host_to_device>,
                   HostClock::completion},
      PrimitiveRow{{"staged.d2h", "the GPU's memory to pageable memory through the pinned ring of each thread", "host"},
                   staged_points,
                   through_rings<CopyDirection::device_to_host>,
                   HostClock::completion},
      PrimitiveRow{{"staged.both", "each way at once through such rings, by half of the threads each", "host"},
                   staged_both_points,
                   through_rings<>,
                   HostClock::completion},
      call_row<Call::pin, MemoryKind::pageable>("call.pin", "page-locking pageable memory (cudaHostRegister)",
                                                pin_points),
      call_row<Call::unpin, MemoryKind::pageable>("call.unpin", "letting it go again (cudaHostUnregister)", pin_points),
      call_row<Call::flush, MemoryKind::pageable>("call.flush", "dropping memory from the caches of the CPU",
                                                  flush_points),
      call_row<Call::allocate, MemoryKind::pageable>("call.allocate.pageable",
                                                     "obtaining pageable memory and touching its pages", call_points),
      call_row<Call::release, MemoryKind::pageable>("call.release.pageable", "giving it back", call_points),
      call_row<Call::allocate, MemoryKind::pinned>("call.allocate.pinned",
                                                   "obtaining huge pages, touching and page-locking them", call_points),
      call_row<Call::release, MemoryKind::pinned>("call.release.pinned", "giving them back", call_points),
      call_row<Call::allocate, MemoryKind::driver_pinned>("call.allocate.driver_pinned",
                                                          "asking what there is, cudaHostAlloc", call_points),
      call_row<Call::release, MemoryKind::driver_pinned>("call.release.driver_pinned", "cudaFreeHost", call_points),
      call_row<Call::allocate, MemoryKind::managed>(
          "call.allocate.managed", "asking what is free, cudaMallocManaged, touching its pages on the host",
          call_points),
      call_row<Call::release, MemoryKind::managed>("call.release.managed", "cudaFree of managed memory", call_points),
      call_row<Call::allocate, MemoryKind::device>("call.allocate.device", "asking what is free, cudaMalloc",
                                                   call_points),
      call_row<Call::release, MemoryKind::device>("call.release.device", "cudaFree", call_points),
      queue_row<Call::create_queue>("call.create_queue", "making a queue (cudaStreamCreateWithFlags)"),
      queue_row<Call::destroy_queue>("call.destroy_queue", "giving it up again (cudaStreamDestroy)"),
      PrimitiveRow{{"latency.wait", "a launch of an empty kernel, and the wait of the host until it has ended", "host"},
                   [](const Setting&) -> std::vector<Point> {
                     return {count_point("rounds", {8, 64})};
                   },
                   [](MeasurableDevice& device, const Arguments& arguments) {
                     return waits_for_kernels(device, whole(arguments, "rounds"));
                   },
                   HostClock::completion},
      PrimitiveRow{
          {"timing.launched",
           "submission of one kernel, and of the event behind it, by the host's clock without waiting", "host"},
          host_kernel_points,
          one_kernel,
          HostClock::submission},
      PrimitiveRow{{"timing.waited", "the same kernel by the host's clock, until its end is known", "host"},
                   host_kernel_points,
                   one_kernel,
                   HostClock::completion},
      PrimitiveRow{{"timing.events", "the same kernel by events (Harris 2012 compares the three)", "events"},
                   host_kernel_points,
                   one_kernel},
  };
  return rows;
}

}  // namespace shiplap
