// What changes while a GPU works: clocks and what holds them down, the link as it is trained now. By NVIDIA's
// management library (NVML), which is loaded at run time and optional.
#pragma once

#include <string>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The functions that are used, with the C interface that NVML keeps stable; each is null where the library lacks it. 0
/// is success. A test replaces what it wants.
struct NvmlApi {
  using Device = void*;
  int (*handle_by_pci_bus_id)(const char*, Device*) = nullptr;
  int (*clock)(Device, int type, unsigned* mhz) = nullptr;  ///< type 1: SMs, 2: memory
  int (*throttle_reasons)(Device, unsigned long long* bits) = nullptr;
  int (*temperature)(Device, int sensor, unsigned* celsius) = nullptr;
  int (*power)(Device, unsigned* milliwatts) = nullptr;
  int (*pcie_generation)(Device, unsigned*) = nullptr;
  int (*pcie_width)(Device, unsigned* lanes) = nullptr;
  int (*pcie_replays)(Device, unsigned*) = nullptr;
  int (*persistence)(Device, int* on) = nullptr;
  int (*mig)(Device, unsigned* current, unsigned* pending) = nullptr;
};

/// The installed library; without one all functions are null. Loaded once for the process.
const NvmlApi& real_nvml();

/// Conditions `gpu.sm_clock`, `gpu.memory_clock`, `gpu.clocks_held_by` ("nothing", or reasons with commas between),
/// `gpu.temperature`, `gpu.power`, `gpu.link_loaded` ("32.0 GT/s PCIe x16": links rest at a lower speed, so it is worth
/// reading while they work), `gpu.pcie_replays`, `gpu.persistence` and `gpu.mig`. What cannot be read is "unknown".
Conditions gpu_state(const NvmlApi&, const std::string& pci_bus_id);
/// `gpu.clocks_held_by` alone, which takes less time; "unknown" where it cannot be read.
std::string clocks_held_by(const NvmlApi&, const std::string& pci_bus_id);

}  // namespace shiplap
