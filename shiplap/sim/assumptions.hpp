// The values that the simulator assumes for parameters that a profile lacks. The table of parameters defines them.
#pragma once

#include <string>
#include <vector>

#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap::sim {

/// Whether `GpuModel::stream_groups` applies to the GPU. Groups were measured only on GPUs without implicit
/// synchronisation whose copy engines take copies in the order of readiness.
bool serves_streams_in_groups(const GpuModel&);

/// One sentence that names all absent parameters that simulated times depend on, such as "profile h200 lacks handovers;
/// assuming 0 (measure the node again to fill it)". Empty when none is absent. Links of NUMA nodes other than that of
/// the first link are not considered.
std::vector<std::string> assumptions(const Profile&);

/// What is assumed of GPUs that a schedule uses together; "" where it uses one, or where the profile has what all of
/// them share.
std::string assumed_of_several_gpus(const Schedule&, const Profile&);

}  // namespace shiplap::sim
