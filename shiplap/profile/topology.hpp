// Facts about the host that figures depend on: processor, cores, NUMA nodes, memory, kernel. They go into profiles and
// results as conditions.
#pragma once

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Keys `host.cpu`, `host.packages`, `host.cores`, `host.hardware_threads`, `host.numa_nodes`, `host.memory`,
/// `host.page_size`, `host.huge_pages` (the setting of transparent huge pages), `host.governor`, `host.turbo`,
/// `host.iommu`, `host.hypervisor` and `host.kernel`; counts are of what this process may use. A fact that the system
/// does not tell is "unknown". Throws Error when the machine cannot be examined at all.
Conditions host_facts();

/// Bytes per second that a link such as "32.0 GT/s PCIe x16" carries after line coding (8b/10b up to 5 GT/s, 128b/130b
/// up to 32, 1b/1b with 242 of 256 bytes of a flit from 64 on); 0 for a text that is no such link.
double pcie_link_rate(const std::string& link);

}  // namespace shiplap
