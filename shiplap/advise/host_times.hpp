// What host threads take for what a recording does not show.
#pragma once

#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// One thread copies at this fraction of the profile's rate or faster, also when pages are new to it.
constexpr double copies_at_least = 0.5;

/// Most time in which a host thread prepares a copy: it copies the bytes itself, at `copies_at_least`.
Seconds time_of_preparing(const Profile&, Bytes);

/// Time of pinning arrays of these sizes, each once; 0 where the profile does not know it.
Seconds time_of_pinning(const Profile&, const std::vector<Bytes>& sizes);

}  // namespace shiplap
