// What if the node were another one: profiles derived from a given one.
#pragma once

#include <string_view>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The profile with another link. `what`: "link=pcie4" (generation 3 to 6), "link=x8" (lanes), or "link=0.5" (times the
/// bandwidth). Times per byte of copies and of zero-copy change in proportion to the link's limit, fixed costs stay,
/// and host memory is taken to keep up. Copies of pageable and managed memory, which the CPU limits, become unknown.
/// Its origin is `derived`. Throws UsageError for anything else, and Unsupported when the profile does not say which
/// link it has.
Profile what_if(const Profile&, std::string_view what);

}  // namespace shiplap
