// Facts of a GPU that CUDA and the system tell without a context on it, so that asking costs the GPU no memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/device_info.hpp"

namespace shiplap {

/// The value of an attribute. Throws Error naming the GPU.
int gpu_attribute(const Api&, cudaDeviceAttr, int gpu);
/// The PCI address in lower case: "0000:4f:00.0".
std::string pci_bus_id(const Api&, int gpu);
/// The NUMA nodes of the host that the process may use, the nearest to the GPU first.
std::vector<std::uint16_t> numa_nodes_by_distance(const Api&, int gpu);
/// The facts of the GPU as a device of its own. Its free memory is left at 0: CUDA tells it only in a context.
DeviceInfo gpu_facts(const Api&, int gpu);

}  // namespace shiplap
