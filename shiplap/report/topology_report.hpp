// A node drawn in text: the host, its NUMA nodes, the link, the GPUs.
#pragma once

#include <string>

#include "shiplap/profile/profile.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

/// From the conditions and links of the profile. What is not known is called unknown; "" for a profile that says
/// nothing of its host.
std::string topology_report(const Profile&, const TextStyle& = {});

}  // namespace shiplap
