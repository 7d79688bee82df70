// What can be planned with a profile.
#pragma once

#include <string>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// One sentence without a full stop: which kinds of memory plans on this profile have, which of them by a closed form
/// instead of the simulation, which figures are missing and which option supplies them.
std::string abilities(const Profile&);

}  // namespace shiplap
