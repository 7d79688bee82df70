#include "shiplap/device/cuda/gpu_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>

#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/cuda/numa.hpp"
#include "shiplap/profile/topology.hpp"

namespace shiplap {
namespace {

/// The first line of a file in /sys or /proc; unknown_fact when there is none.
std::string system_text(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && !line.empty() ? line : unknown_fact;
}

/// Speed and width of the link, as in "32.0 GT/s PCIe x16".
std::string link(const std::string& pci_device) {
  const std::string speed = system_text(pci_device + "/max_link_speed");
  if (speed == unknown_fact) return speed;
  return fmt::format("{} x{}", speed, system_text(pci_device + "/max_link_width"));
}

/// The NUMA node nearest to the GPU; any_numa_node where the system does not say.
std::uint16_t numa_node(const std::string& pci_bus_id) {
  int number = -1;
  std::ifstream("/sys/bus/pci/devices/" + pci_bus_id + "/numa_node") >> number;
  return number < 0 || number >= any_numa_node ? any_numa_node : static_cast<std::uint16_t>(number);
}

/// The UUID in the form of nvidia-smi -L: "GPU-6f1a7b1e-…".
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

Conditions conditions(const Api& api, int gpu, const char* name, const std::string& uuid) {
  const std::string bus_id = pci_bus_id(api, gpu);
  int driver = 0;
  int runtime = 0;
  check(api, api.driver_get_version(&driver), "cudaDriverGetVersion", "the conditions of a measurement");
  check(api, api.runtime_get_version(&runtime), "cudaRuntimeGetVersion", "the conditions of a measurement");
  const std::string pci = "/sys/bus/pci/devices/" + bus_id;
  const char* connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");

  Conditions result = host_facts();
  result["gpu.name"] = name;
  result["gpu.compute_capability"] = fmt::format("{}.{}", gpu_attribute(api, cudaDevAttrComputeCapabilityMajor, gpu),
                                                 gpu_attribute(api, cudaDevAttrComputeCapabilityMinor, gpu));
  result["gpu.uuid"] = uuid;
  result["gpu.pci_bus_id"] = bus_id;
  result["gpu.numa_node"] = system_text(pci + "/numa_node");
  result["gpu.link"] = link(pci);
  result["gpu.ecc"] = gpu_attribute(api, cudaDevAttrEccEnabled, gpu) != 0 ? "on" : "off";
  result["gpu.sm_clock_max"] = fmt::format("{} MHz", gpu_attribute(api, cudaDevAttrClockRate, gpu) / 1000);
  result["gpu.memory_bus_width"] = fmt::format("{} bits", gpu_attribute(api, cudaDevAttrGlobalMemoryBusWidth, gpu));
  result["gpu.memory_clock_max"] = fmt::format("{} MHz", gpu_attribute(api, cudaDevAttrMemoryClockRate, gpu) / 1000);
  result["gpu.driver"] = system_text("/sys/module/nvidia/version");
  result["cuda.driver_version"] = version_text(driver);
  result["cuda.runtime_version"] = version_text(runtime);
  result["cuda.max_connections"] = connections != nullptr ? connections : "default";
  return result;
}

}  // namespace

int gpu_attribute(const Api& api, cudaDeviceAttr which, int gpu) {
  int value = 0;
  check(api, api.device_get_attribute(&value, which, gpu), "cudaDeviceGetAttribute", fmt::format("cuda:{}", gpu));
  return value;
}

std::string pci_bus_id(const Api& api, int gpu) {
  std::array<char, 32> bus{};
  check(api, api.device_get_pci_bus_id(bus.data(), static_cast<int>(bus.size()), gpu), "cudaDeviceGetPCIBusId",
        fmt::format("cuda:{}", gpu));
  std::string id = bus.data();
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return id;
}

std::vector<std::uint16_t> numa_nodes_by_distance(const Api& api, int gpu) {
  return numa_nodes_of_host(numa_node(pci_bus_id(api, gpu)));
}

DeviceInfo gpu_facts(const Api& api, int gpu) {
  cudaDeviceProp properties{};
  check(api, api.get_device_properties(&properties, gpu), "cudaGetDeviceProperties", fmt::format("cuda:{}", gpu));
  const auto number = [&](cudaDeviceAttr which) { return static_cast<unsigned>(gpu_attribute(api, which, gpu)); };
  const unsigned sm_count = number(cudaDevAttrMultiProcessorCount);
  DeviceInfo result{.id = fmt::format("cuda:{}", gpu),
                    .name = properties.name,
                    .is_virtual = false,
                    .memory = Bytes{properties.totalGlobalMem},
                    .free_memory = {},
                    .sm_count = sm_count,
                    .copy_engines = number(cudaDevAttrAsyncEngineCount),
                    .resident_threads = sm_count * number(cudaDevAttrMaxThreadsPerMultiProcessor),
                    .l2_cache = Bytes{static_cast<std::uint64_t>(properties.l2CacheSize)},
                    .gpus = 1,
                    .peer_access = false,
                    .numa_nodes = numa_nodes_by_distance(api, gpu),
                    .limits = {},
                    .conditions = conditions(api, gpu, properties.name, uuid_text(properties.uuid))};
  const Conditions& c = result.conditions;
  result.limits = fmt::format("compute capability {}, ECC {}, driver {}, link {}", c.at("gpu.compute_capability"),
                              c.at("gpu.ecc"), c.at("gpu.driver"), c.at("gpu.link"));
  return result;
}

}  // namespace shiplap
