// Facts about the host that figures depend on: processor, cores, NUMA nodes, memory, operating system. Profiles and
// results hold them as conditions.
#pragma once

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The conditions `host.cpu`, `host.packages`, `host.cores`, `host.hardware_threads`, `host.numa_nodes`, `host.memory`,
/// `host.page_size`, `host.huge_pages` (the setting of transparent huge pages, for this process), `host.governor`,
/// `host.turbo`, `host.iommu`, `host.hypervisor` and `host.kernel`; counts include only what this process may use. A
/// fact that cannot be determined is "unknown". Throws Error when the machine cannot be examined at all.
Conditions host_facts();

/// Bytes per second in each direction that a link such as "32.0 GT/s PCIe x16" carries after line coding (8b/10b up to
/// 5 GT/s, 128b/130b up to 32 GT/s, 242 of the 256 bytes of a flit from 64 GT/s on). 0 for any other text.
double pcie_link_rate(const std::string& link);

}  // namespace shiplap
