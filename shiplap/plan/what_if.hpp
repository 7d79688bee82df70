// Profiles of imagined nodes, derived from a given profile.
#pragma once

#include <string_view>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The profile with another link. `what` is "link=pcie4" (generation 3 to 6), "link=x8" (number of lanes), or
/// "link=0.5" (factor of the bandwidth). Times per byte of copies and of zero-copy change in proportion to the link's
/// limit, fixed costs stay, and host memory is assumed to be fast enough. Copies of pageable and managed memory, which
/// the CPU limits, become unknown. The origin of the result is `derived`. Throws UsageError for any other `what`, and
/// Unsupported when the profile does not say which link it has.
Profile what_if(const Profile&, std::string_view what);

}  // namespace shiplap
