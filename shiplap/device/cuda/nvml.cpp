#include "shiplap/device/cuda/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <vector>

namespace shiplap {
namespace {

NvmlApi load_nvml() {
  NvmlApi api;
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return api;
  int (*init)() = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  find(init, "nvmlInit_v2");
  if (init == nullptr || init() != 0) return api;
  find(api.handle_by_pci_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
  find(api.memory, "nvmlDeviceGetMemoryInfo");
  find(api.clock, "nvmlDeviceGetClockInfo");
  find(api.throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(api.temperature, "nvmlDeviceGetTemperature");
  find(api.power, "nvmlDeviceGetPowerUsage");
  find(api.pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
  find(api.pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
  find(api.pcie_replays, "nvmlDeviceGetPcieReplayCounter");
  find(api.persistence, "nvmlDeviceGetPersistenceMode");
  find(api.mig, "nvmlDeviceGetMigMode");
  find(api.utilization, "nvmlDeviceGetUtilizationRates");
  find(api.pcie_throughput, "nvmlDeviceGetPcieThroughput");
  find(api.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  find(api.process_name, "nvmlSystemGetProcessName");
  return api;
}

/// Names of NVML's clock throttle reasons. Idle (0x1) and display settings (0x100) are left out, because they do not
/// apply to a busy GPU.
std::string held_by(unsigned long long bits) {
  constexpr std::array<std::pair<unsigned long long, const char*>, 7> reasons{{{0x2, "application clocks"},
                                                                               {0x4, "power cap"},
                                                                               {0x8, "hardware slowdown"},
                                                                               {0x10, "sync boost"},
                                                                               {0x20, "heat (software)"},
                                                                               {0x40, "heat (hardware)"},
                                                                               {0x80, "power brake"}}};
  std::string text;
  for (const auto& [bit, reason] : reasons)
    if ((bits & bit) != 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", reason);
  return text.empty() ? "nothing" : text;
}

bool succeeds(auto function, auto... arguments) { return function != nullptr && function(arguments...) == 0; }

/// Rate of a PCIe generation in GT/s per lane.
const char* transfers(unsigned generation) {
  constexpr std::array<const char*, 7> rates{nullptr, "2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};
  return generation < rates.size() ? rates[generation] : nullptr;
}

/// Numbers of the processes that use the GPU, without this one.
std::vector<unsigned> other_processes(const NvmlApi& api, NvmlApi::Device gpu, unsigned own_id) {
  std::array<NvmlApi::Process, 64> processes{};
  unsigned count = processes.size();
  if (!succeeds(api.compute_processes, gpu, &count, processes.data())) return {};
  std::vector<unsigned> ids;
  for (unsigned i = 0; i < std::min<unsigned>(count, processes.size()); ++i) ids.push_back(processes[i].id);
  if (std::erase(ids, own_id) == 0 && !ids.empty()) ids.pop_back();
  return ids;
}

}  // namespace

const NvmlApi& real_nvml() {
  static const NvmlApi api = load_nvml();
  return api;
}

Conditions gpu_state(const NvmlApi& api, const std::string& pci_bus_id) {
  Conditions state;
  for (const char* name : {"gpu.sm_clock", "gpu.memory_clock", "gpu.clocks_held_by", "gpu.temperature", "gpu.power",
                           "gpu.link_loaded", "gpu.pcie_replays", "gpu.persistence", "gpu.mig"})
    state[name] = unknown_fact;
  NvmlApi::Device gpu = nullptr;
  if (!succeeds(api.handle_by_pci_bus_id, pci_bus_id.c_str(), &gpu)) return state;
  unsigned value = 0;
  unsigned other = 0;
  unsigned long long bits = 0;
  int on = 0;
  if (succeeds(api.clock, gpu, 1, &value)) state["gpu.sm_clock"] = fmt::format("{} MHz", value);
  if (succeeds(api.clock, gpu, 2, &value)) state["gpu.memory_clock"] = fmt::format("{} MHz", value);
  if (succeeds(api.throttle_reasons, gpu, &bits)) state["gpu.clocks_held_by"] = held_by(bits);
  if (succeeds(api.temperature, gpu, 0, &value)) state["gpu.temperature"] = fmt::format("{} °C", value);
  if (succeeds(api.power, gpu, &value)) state["gpu.power"] = fmt::format("{:.0f} W", value / 1e3);
  if (succeeds(api.pcie_generation, gpu, &value) && succeeds(api.pcie_width, gpu, &other) &&
      transfers(value) != nullptr)
    state["gpu.link_loaded"] = fmt::format("{} GT/s PCIe x{}", transfers(value), other);
  if (succeeds(api.pcie_replays, gpu, &value)) state["gpu.pcie_replays"] = fmt::format("{}", value);
  if (succeeds(api.persistence, gpu, &on)) state["gpu.persistence"] = on != 0 ? "on" : "off";
  if (succeeds(api.mig, gpu, &value, &other)) state["gpu.mig"] = value != 0 ? "on" : "off";
  return state;
}

std::string clocks_held_by(const NvmlApi& api, const std::string& pci_bus_id) {
  NvmlApi::Device gpu = nullptr;
  unsigned long long bits = 0;
  const bool read =
      succeeds(api.handle_by_pci_bus_id, pci_bus_id.c_str(), &gpu) && succeeds(api.throttle_reasons, gpu, &bits);
  return read ? held_by(bits) : unknown_fact;
}

Bytes gpu_free_memory(const NvmlApi& api, const std::string& pci_bus_id) {
  NvmlApi::Device gpu = nullptr;
  NvmlApi::Memory memory;
  const bool read = succeeds(api.handle_by_pci_bus_id, pci_bus_id.c_str(), &gpu) && succeeds(api.memory, gpu, &memory);
  return Bytes{read ? memory.free : 0};
}

GpuLoad gpu_load(const NvmlApi& api, const std::string& pci_bus_id, unsigned own_id) {
  GpuLoad load;
  NvmlApi::Device gpu = nullptr;
  if (!succeeds(api.handle_by_pci_bus_id, pci_bus_id.c_str(), &gpu)) return load;
  NvmlApi::Utilization utilization;
  if (succeeds(api.utilization, gpu, &utilization)) load.busy = utilization.gpu / 100.0;
  unsigned sent = 0;
  unsigned received = 0;
  if (succeeds(api.pcie_throughput, gpu, 0, &sent) && succeeds(api.pcie_throughput, gpu, 1, &received))
    load.link = Bandwidth{1e3 * (static_cast<double>(sent) + static_cast<double>(received))};
  for (const unsigned id : other_processes(api, gpu, own_id)) {
    std::array<char, 256> name{};
    if (!succeeds(api.process_name, id, name.data(), static_cast<unsigned>(name.size()))) name.front() = 0;
    load.processes.push_back({.id = id, .name = name.data()});
  }
  return load;
}

}  // namespace shiplap
