// The texts of the profiles that are compiled in (generated from profiles/*.json at build time).
#pragma once

#include <string_view>
#include <vector>

namespace shiplap {

struct BuiltInProfile {
  std::string_view name;
  std::string_view json;
};
std::vector<BuiltInProfile> built_in_profile_texts();

}  // namespace shiplap
