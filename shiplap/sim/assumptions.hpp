// What the simulator assumes where a profile lacks a parameter, as the table of parameters says it.
#pragma once

#include <string>
#include <vector>

#include "shiplap/profile/profile.hpp"

namespace shiplap::sim {

/// Whether the copy engines of the GPU may serve streams in groups: groups were measured only where copies wait for
/// nothing but their own dependencies.
bool serves_streams_in_groups(const GpuModel&);

/// "profile h200 lacks event_gap; assuming 0 (measure the node again to fill it)": one sentence for all parameters that
/// the profile lacks and that a time of a simulation depends on; none where it lacks none of them. Of links, those of
/// the first NUMA node count.
std::vector<std::string> assumptions(const Profile&);

}  // namespace shiplap::sim
