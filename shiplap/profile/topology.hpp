// Facts about the host that figures depend on: processor, cores, NUMA nodes, memory, operating system. Profiles and
// results hold them as conditions.
#pragma once

#include <filesystem>
#include <vector>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The conditions `host.cpu`, `host.packages`, `host.cores`, `host.hardware_threads`, `host.numa_nodes`, `host.memory`,
/// `host.page_size`, `host.huge_pages` (the setting of transparent huge pages, for this process), `host.governor` (see
/// governors_of), `host.turbo`, `host.iommu`, `host.hypervisor` and `host.kernel`; counts and governors include only
/// what this process may use. A fact that cannot be determined is "unknown". Throws Error when the machine cannot be
/// examined at all.
Conditions host_facts();

/// The frequency governors of CPUs, which are numbered as the system numbers them: one word where all are the same, as
/// in "performance", else as in "performance (CPUs 0-7,16), powersave (CPUs 8-15)". A CPU whose file below `root` is
/// missing has "unknown", and so has an empty list. Tests make a `root` of their own.
std::string governors_of(const std::vector<unsigned>& cpus, const std::filesystem::path& root = "/");

/// Bytes per second in each direction that a link such as "32.0 GT/s PCIe x16" carries after line coding (8b/10b up to
/// 5 GT/s, 128b/130b up to 32 GT/s, 242 of the 256 bytes of a flit from 64 GT/s on). 0 for any other text.
double pcie_link_rate(const std::string& link);

/// The least share of that rate that copies reach on sound machines. A GTX Titan on PCIe 3.0 reaches 76 % (van
/// Werkhoven et al. 2014, Table I), an H200 on PCIe 5.0 88 %.
inline constexpr double sound_share_of_link = 0.72;

}  // namespace shiplap
