// A drawing of a node in text: the host, its NUMA nodes, the link and the GPUs.
#pragma once

#include <string>

#include "shiplap/document/table.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Draws the node from the conditions of the profile. Facts that the conditions lack are called unknown. Returns ""
/// when the conditions do not name the CPU or the profile has no GPU.
std::string topology_report(const Profile&, const TextStyle& = {});

}  // namespace shiplap
