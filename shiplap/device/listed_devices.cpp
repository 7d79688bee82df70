#include "shiplap/device/listed_devices.hpp"

#include <nlohmann/json.hpp>

#include "shiplap/core/record.hpp"

namespace shiplap {

template <class V, Like<DeviceInfo> R>
void describe(V& v, R& info) {
  v.field("id", info.id, "name of the device as options take it");
  v.field("name", info.name, "name for people");
  v.field("virtual", info.is_virtual, "whether the device is simulated");
  v.field("memory", info.memory, "device memory of its first GPU");
  v.field("free_memory", info.free_memory, "device memory that is free now; 0 when unknown");
  v.field("sm_count", info.sm_count, "SMs of the GPU");
  v.field("copy_engines", info.copy_engines, "copy engines that can work at the same time");
  v.field("resident_threads", info.resident_threads, "threads that the GPU holds at once");
  v.field("l2_cache", info.l2_cache, "bytes of the L2 cache; 0 when unknown");
  v.field("limits", info.limits, "further facts for people");
  v.field("conditions", info.conditions, "driver, clocks, CPU and NUMA nodes at the time of the query");
}

template <class V, Like<ListedDevices> R>
void describe(V& v, R& listed) {
  v.field("default", listed.default_device, "the device that is used where none is named");
  v.field("devices", listed.devices, "the devices that can be opened");
  v.field("absent", listed.absent, "for each backend without a device the reason");
}

Json to_json(const ListedDevices& listed) { return write_record(listed); }
void from_json(const JsonReader& json, ListedDevices& listed) { read_record(json, listed); }

}  // namespace shiplap
