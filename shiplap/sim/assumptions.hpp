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

/// What is assumed of GPUs that a schedule uses together, one sentence each: that they share nothing, where the profile
/// does not have what all of them share, and that further GPUs are like the first, where the profile lacks their
/// figures and they have its name. Empty for a schedule of one GPU.
std::vector<std::string> assumed_of_several_gpus(const Schedule&, const Profile&);

}  // namespace shiplap::sim
