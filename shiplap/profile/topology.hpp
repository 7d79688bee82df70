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

}  // namespace shiplap
