// Primitives of calls that a host thread makes to the system and the driver (pinning, allocation, streams, waits).
// Another primitive times one kernel by three clocks.
#include <fmt/format.h>

#include <algorithm>

#include "shiplap/device/host_work.hpp"
#include "shiplap/device/probe_kernel.hpp"
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

Trial one_kernel(MeasurableDevice& device, const Arguments& arguments) {
  return single_kernel(device, ProbeKind::stream, 1, arguments.at("bytes"));
}

}  // namespace

std::vector<PrimitiveRow> call_rows() {
  using enum HostCall::Kind;
  using enum MemoryKind;
  RowTable rows;
  const auto call = [&](HostCall::Kind kind, MemoryKind memory, const char* summary,
                        const RowTable::MakePoints& points) {
    rows.add(
        call_primitive(kind, memory), summary, points,
        [=](MeasurableDevice&, const Arguments& arguments) { return host_call(kind, memory, bytes(arguments)); },
        HostClock::operation);
  };
  const auto stream = [&](HostCall::Kind kind, const char* name, const char* summary) {
    rows.add(
        name, summary,
        [](const Setting&) {
          return std::vector<Point>{{"one stream", {Arguments{}}}};
        },
        [kind](MeasurableDevice&, const Arguments&) { return stream_call(kind); }, HostClock::operation);
  };
  call(pin, pageable, "pinning pageable memory (cudaHostRegister)", pin_points);
  call(unpin, pageable, "unpinning it (cudaHostUnregister)", pin_points);
  call(flush, pageable, "dropping memory from the caches of the CPU", flush_points);
  call(allocate, pageable, "obtaining pageable memory and touching its pages", call_points);
  call(release, pageable, "giving it back", call_points);
  call(allocate, pinned, "obtaining huge pages, touching and pinning them", call_points);
  call(release, pinned, "giving them back", call_points);
  call(allocate, driver_pinned, "asking what there is, cudaHostAlloc", call_points);
  call(release, driver_pinned, "cudaFreeHost", call_points);
  call(allocate, managed, "asking what is free, cudaMallocManaged, touching its pages on the host", call_points);
  call(release, managed, "cudaFree of managed memory", call_points);
  call(allocate, device, "asking what is free, cudaMalloc", call_points);
  call(release, device, "cudaFree", call_points);
  stream(create_stream, "call.create_stream", "creating a stream (cudaStreamCreateWithFlags)");
  stream(destroy_stream, "call.destroy_stream", "destroying it (cudaStreamDestroy)");
  rows.add(
      "latency.wait", "a launch of an empty kernel, and the wait of the host until it has ended",
      counts_of("rounds", {8, 64}),
      [](MeasurableDevice& gpu, const Arguments& arguments) {
        return waits_for_kernels(gpu, whole(arguments, "rounds"));
      },
      HostClock::completion);
  rows.add("timing.launched",
           "submission of one kernel, and of the event behind it, by the host's clock without waiting",
           kernel_call_points, one_kernel, HostClock::submission);
  rows.add("timing.waited", "one busy kernel by the host's clock, until its end is known", kernel_call_points,
           one_kernel, HostClock::completion);
  rows.add("timing.events", "one busy kernel by events (Harris 2012 compares the three)", kernel_call_points,
           one_kernel);
  return rows.all;
}

}  // namespace shiplap
