// Conditions that change while a GPU works: clocks, throttle reasons, link speed. They come from NVIDIA's management
// library (NVML), which is loaded at run time and optional.
#pragma once

#include <string>

#include "shiplap/core/units.hpp"
#include "shiplap/device/load.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The functions of NVML that are used here, with its stable C interface. A function that the library lacks is null.
/// The result 0 means success. A test may replace any of them.
struct NvmlApi {
  using Device = void*;
  /// nvmlUtilization_t: per cents of the last sample period, at most a second.
  struct Utilization {
    unsigned gpu = 0;
    unsigned memory = 0;
  };
  /// nvmlProcessInfo_t of versions 2 and 3.
  struct Process {
    unsigned id = 0;
    unsigned long long memory = 0;
    unsigned gpu_instance = 0;
    unsigned compute_instance = 0;
  };
  int (*handle_by_pci_bus_id)(const char*, Device*) = nullptr;
  /// nvmlMemory_t, in bytes.
  struct Memory {
    unsigned long long total = 0;
    unsigned long long free = 0;
    unsigned long long used = 0;
  };
  int (*memory)(Device, Memory*) = nullptr;
  int (*clock)(Device, int type, unsigned* mhz) = nullptr;  ///< clock in MHz; type 1: SMs, 2: memory
  int (*throttle_reasons)(Device, unsigned long long* bits) = nullptr;
  int (*temperature)(Device, int sensor, unsigned* celsius) = nullptr;
  int (*power)(Device, unsigned* milliwatts) = nullptr;
  int (*pcie_generation)(Device, unsigned*) = nullptr;
  int (*pcie_width)(Device, unsigned* lanes) = nullptr;
  int (*pcie_replays)(Device, unsigned*) = nullptr;
  int (*persistence)(Device, int* on) = nullptr;
  int (*mig)(Device, unsigned* current, unsigned* pending) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*pcie_throughput)(Device, int counter, unsigned* kb_per_second) = nullptr;  ///< counter 0: sent, 1: received
  int (*compute_processes)(Device, unsigned* count, Process*) = nullptr;
  int (*process_name)(unsigned id, char* name, unsigned length) = nullptr;
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
/// Device memory that is free; 0 where it cannot be read.
Bytes gpu_free_memory(const NvmlApi&, const std::string& pci_bus_id);
/// The load of the GPU by others than the process `own_id`. NVML uses the numbers that processes have on the host. In a
/// container with process numbers of its own this process is not found, and the last process of the list is assumed to
/// be this one.
GpuLoad gpu_load(const NvmlApi&, const std::string& pci_bus_id, unsigned own_id);

}  // namespace shiplap
