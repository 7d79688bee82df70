// Copies of arrays that are on the GPU already.
#pragma once

#include "shiplap/device/device.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The device memory that schedules may use, by what is free now.
Bytes usable_memory(const DeviceInfo&);

/// What an array on the GPU contains, in pinned memory of the host. Waits for the copy. Throws as Device::prepare and
/// Execution::run do.
Memory copy_on_host(Device&, const Array&);
/// Writes such a copy back into the array. Waits and throws as `copy_on_host` does.
void copy_to_gpu(Device&, const Array&, const Memory& copy);

}  // namespace shiplap
