// Published facts about GPUs, for outputs of tools that print no more than a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// What NVIDIA publishes about a GPU.
struct PublishedGpu {
  std::string_view name;             ///< words that the driver's name of the GPU has too
  unsigned memory_gb = 0;            ///< device memory
  unsigned sm_count = 0;             ///< number of SMs
  double memory_bandwidth_gb_s = 0;  ///< theoretical rate of the device memory
  double fp32_tflop_s = 0;           ///< theoretical fp32 rate
  unsigned threads_per_sm = 0;       ///< resident threads of an SM, by its compute capability
  std::string_view link;             ///< fastest link to the host, as `pcie_link_rate` reads it; "": not PCIe
};

/// The GPU whose words are all in this name, as in "NVIDIA A100-SXM4-80GB", beside which it has only words of vendor,
/// family and form; nullopt for a GPU that is not in the table, and for variants of one that is ("Laptop GPU", another
/// memory, a slice of MIG, a virtual GPU).
std::optional<PublishedGpu> find_published_gpu(std::string_view name);

/// Parameters from published facts: the memory bandwidth and the fp32 rate are theoretical, so their intervals reach
/// down to what kernels were seen to reach. Everything that is not published is absent.
GpuModel gpu_model(const PublishedGpu&, std::string_view name);

/// The names of those that have a PCIe link.
std::vector<std::string> published_gpu_names();

}  // namespace shiplap
