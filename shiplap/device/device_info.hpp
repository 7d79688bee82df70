// What a device is and what it is able to do, as values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Facts of a device at the time of asking. Of a device with several GPUs, what is said of "the GPU" holds for the
/// first.
struct DeviceInfo {
  std::string id;                              ///< "cuda:0", "cuda:0,1", "virtual:h200"
  std::string name;                            ///< "NVIDIA H200"
  bool is_virtual = false;                     ///< simulated: `virtual:PROFILE`
  std::shared_ptr<const Profile> simulated{};  ///< the profile that a virtual device simulates; null for a GPU
  Bytes memory;                                ///< device memory of the GPU
  Bytes free_memory;                           ///< the part of it that is free now
  unsigned sm_count = 0;                       ///< SMs of the GPU
  unsigned copy_engines = 0;                   ///< copy engines that can work at the same time
  unsigned resident_threads = 0;               ///< threads that the GPU holds at once
  Bytes l2_cache{};                            ///< 0 when unknown: virtual devices simulate no cache
  unsigned gpus = 1;                           ///< number of GPUs
  bool peer_access = false;                    ///< the GPUs can address each other's memory
  std::vector<std::uint16_t> numa_nodes{};     ///< NUMA nodes of the host, by the system's numbers
  std::string limits;                          ///< facts a reader should know, one line ("ECC on, driver 580.159")
  Conditions conditions;                       ///< driver, runtime, clocks, CPU, NUMA: goes into profiles and results
};

}  // namespace shiplap
