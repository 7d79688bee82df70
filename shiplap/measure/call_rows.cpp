// Primitives of calls that a host thread makes to the system and the driver (pinning, allocation, streams, waits).
// Another primitive times one kernel by three clocks.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/device/host_work.hpp"
#include "shiplap/measure/host_trial.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

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
std::vector<Point> kernel_call_points(const Setting& setting) {
  not_in_quick(setting);
  return size_points({std::min(64_MiB, setting.largest)});
}

template <HostCall::Kind kind, MemoryKind memory>
Trial call(MeasurableDevice&, const Arguments& arguments) {
  return host_call(kind, memory, bytes(arguments));
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
PrimitiveRow stream_row(std::string_view name, std::string_view summary) {
  return {{name, summary, "host"},
          [](const Setting&) -> std::vector<Point> {
            return {{"one stream", {Arguments{}}}};
          },
          [](MeasurableDevice&, const Arguments&) { return stream_call(kind); },
          HostClock::operation};
}

}  // namespace

std::span<const PrimitiveRow> call_rows() {
  static const std::array rows{
      call_row<Call::pin, MemoryKind::pageable>("call.pin", "pinning pageable memory (cudaHostRegister)", pin_points),
      call_row<Call::unpin, MemoryKind::pageable>("call.unpin", "unpinning it (cudaHostUnregister)", pin_points),
      call_row<Call::flush, MemoryKind::pageable>("call.flush", "dropping memory from the caches of the CPU",
                                                  flush_points),
      call_row<Call::allocate, MemoryKind::pageable>("call.allocate.pageable",
                                                     "obtaining pageable memory and touching its pages", call_points),
      call_row<Call::release, MemoryKind::pageable>("call.release.pageable", "giving it back", call_points),
      call_row<Call::allocate, MemoryKind::pinned>("call.allocate.pinned",
                                                   "obtaining huge pages, touching and pinning them", call_points),
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
      stream_row<Call::create_stream>("call.create_stream", "creating a stream (cudaStreamCreateWithFlags)"),
      stream_row<Call::destroy_stream>("call.destroy_stream", "destroying it (cudaStreamDestroy)"),
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
          kernel_call_points,
          one_kernel,
          HostClock::submission},
      PrimitiveRow{{"timing.waited", "one busy kernel by the host's clock, until its end is known", "host"},
                   kernel_call_points,
                   one_kernel,
                   HostClock::completion},
      PrimitiveRow{{"timing.events", "one busy kernel by events (Harris 2012 compares the three)", "events"},
                   kernel_call_points,
                   one_kernel},
  };
  return rows;
}

}  // namespace shiplap
