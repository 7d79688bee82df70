// What a profile does not know.
#pragma once

#include <algorithm>
#include <string_view>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Whether `missing` names a parameter, as "links[0].d2h.per_byte". When it has a value all the same, this is assumed.
inline bool is_missing(const Profile& profile, std::string_view parameter) {
  return std::ranges::find(profile.missing, parameter, &Missing::parameter) != profile.missing.end();
}

}  // namespace shiplap
