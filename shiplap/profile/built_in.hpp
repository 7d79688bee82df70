// The texts of the built-in profiles, which the build generates from profiles/*.json.
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
