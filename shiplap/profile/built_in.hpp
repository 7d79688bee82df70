// The built-in profiles. The build generates their texts from profiles/*.json.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace shiplap {

struct Profile;

struct BuiltInProfile {
  std::string_view name;
  std::string_view json;
};
std::vector<BuiltInProfile> built_in_profile_texts();

/// The built-in profile of GPUs with this name ("NVIDIA H200"); nullopt without one.
std::optional<Profile> built_in_profile_of(std::string_view gpu);

}  // namespace shiplap
