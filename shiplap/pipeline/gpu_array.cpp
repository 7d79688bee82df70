#include "shiplap/pipeline/gpu_array.hpp"

#include "shiplap/device/bindings.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {
namespace {

void copy(Device& device, const Array& array, const Memory& host, CopyDirection to) {
  if (array.size.count == 0) return;
  Schedule schedule;
  const Region gpu{
      schedule.add_buffer({.name = array.name, .place = place_of(array), .memory = array.memory, .size = array.size}),
      Bytes{0}, array.size};
  const Region copied{
      schedule.add_buffer(
          {.name = array.name + " on the host", .place = host.place(), .memory = host.kind(), .size = array.size}),
      Bytes{0}, array.size};
  schedule.add({.what = to == CopyDirection::device_to_host ? Copy{gpu, copied} : Copy{copied, gpu},
                .stream = schedule.add_stream("copy"),
                .agent = AgentId{0},
                .after = {},
                .chunk = 0});
  device.prepare(schedule, {.buffers = {array.data, host.data()}, .kernels = {}})->run();
}

}  // namespace

Bytes usable_memory(const DeviceInfo& info) {
  constexpr unsigned usable_percent = 95;
  return info.free_memory / 100 * usable_percent;
}

Memory copy_on_host(Device& device, const Array& array) {
  Memory host = device.allocate(Place::host(), MemoryKind::pinned, array.size);
  copy(device, array, host, CopyDirection::device_to_host);
  return host;
}

void copy_to_gpu(Device& device, const Array& array, const Memory& copied) {
  copy(device, array, copied, CopyDirection::host_to_device);
}

}  // namespace shiplap
