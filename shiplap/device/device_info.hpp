// Facts of a device: its name, its memory and its capabilities.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/profile/conditions.hpp"

namespace shiplap {

struct Profile;

/// Facts of a device at the time of the query. For a device with several GPUs, "the GPU" below is the first one.
struct DeviceInfo {
  std::string id;                              ///< the name that `open` takes: "cuda:0", "cuda:0,1", "virtual:h200"
  std::string name;                            ///< name for people: "NVIDIA H200"
  bool is_virtual = false;                     ///< whether the device is simulated (`virtual:PROFILE`)
  std::shared_ptr<const Profile> simulated{};  ///< the profile that a virtual device simulates; null for a GPU
  Bytes memory;                                ///< device memory of the GPU
  Bytes free_memory;                           ///< device memory that is free now; 0 when unknown
  unsigned sm_count = 0;                       ///< SMs of the GPU
  unsigned copy_engines = 0;                   ///< copy engines that can work at the same time
  unsigned resident_threads = 0;               ///< threads that the GPU holds at once
  Bytes l2_cache{};                            ///< bytes of the L2 cache; 0 when unknown, as on a virtual device
  unsigned gpus = 1;                           ///< number of GPUs
  bool peer_access = false;                    ///< whether the GPUs can address each other's memory
  /// NUMA nodes of the host that the process may use, by the numbers of the operating system. The first is nearest to
  /// the GPU, and memory of Place::host() is there.
  std::vector<std::uint16_t> numa_nodes{};
  std::string limits;  ///< one line of further facts for people, as in "ECC on, driver 580.159"
  /// Driver, runtime, clocks, CPU and NUMA nodes, recorded in profiles and results. For a virtual device they say what
  /// is simulated, and by which profile.
  Conditions conditions;
};

}  // namespace shiplap
