// The values that the simulator assumes for parameters that a profile lacks. The table of parameters defines them.
#pragma once

#include <string>
#include <vector>

#include "shiplap/profile/profile.hpp"

namespace shiplap::sim {

/// Whether `GpuModel::stream_groups` applies to the GPU. Groups were measured only on GPUs without implicit
/// synchronisation whose copy engines take copies in the order of readiness.
bool serves_streams_in_groups(const GpuModel&);

/// One sentence that names all absent parameters that simulated times depend on, such as "profile h200 lacks handovers;
/// assuming 0 (measure the node again to fill it)". Empty when none is absent. Links of NUMA nodes other than that of
/// the first link are not considered.
std::vector<std::string> assumptions(const Profile&);

}  // namespace shiplap::sim
