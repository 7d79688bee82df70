// Conditions that change while a GPU works: clocks, throttle reasons, link speed. They come from NVIDIA's management
// library (NVML), which is loaded at run time and optional.
#pragma once

#include <string>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The functions of NVML that are used here, with its stable C interface. A function that the library lacks is null.
/// The result 0 means success. A test may replace any of them.
struct NvmlApi {
  using Device = void*;
  int (*handle_by_pci_bus_id)(const char*, Device*) = nullptr;
  int (*clock)(Device, int type, unsigned* mhz) = nullptr;  ///< clock in MHz; type 1: SMs, 2: memory
  int (*throttle_reasons)(Device, unsigned long long* bits) = nullptr;
  int (*temperature)(Device, int sensor, unsigned* celsius) = nullptr;
  int (*power)(Device, unsigned* milliwatts) = nullptr;
  int (*pcie_generation)(Device, unsigned*) = nullptr;
  int (*pcie_width)(Device, unsigned* lanes) = nullptr;
  int (*pcie_replays)(Device, unsigned*) = nullptr;
  int (*persistence)(Device, int* on) = nullptr;
  int (*mig)(Device, unsigned* current, unsigned* pending) = nullptr;
};

/// The functions of the installed library, loaded once; all are null without one.
const NvmlApi& real_nvml();

/// Conditions `gpu.sm_clock`, `gpu.memory_clock`, `gpu.clocks_held_by` ("nothing", or reasons with commas between),
/// `gpu.temperature`, `gpu.power`, `gpu.link_loaded` ("32.0 GT/s PCIe x16": the speed of an idle link is lower, so read
/// it while the link is busy), `gpu.pcie_replays`, `gpu.persistence` and `gpu.mig`. A value that cannot be read is
/// "unknown".
Conditions gpu_state(const NvmlApi&, const std::string& pci_bus_id);
/// `gpu.clocks_held_by` alone, which takes less time; "unknown" where it cannot be read.
std::string clocks_held_by(const NvmlApi&, const std::string& pci_bus_id);

}  // namespace shiplap
