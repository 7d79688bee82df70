// Profiles of this node's GPUs, kept so that plan and run need not measure each time, and the search for a profile.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap::cli {

/// $XDG_CACHE_HOME/shiplap or ~/.cache/shiplap; nullopt when neither variable is set.
std::optional<std::filesystem::path> cache_directory();
/// Where the profile of a GPU belongs: its name, driver and host, in kebab case.
std::optional<std::filesystem::path> cache_path(const DeviceInfo&);
/// Files in the cache, by name.
std::vector<std::filesystem::path> cached_profiles();
/// Creates the directory when needed. Says on stderr where the profile went, or why it could not be kept.
void keep_profile(const Profile&, const DeviceInfo&);

/// A built-in name, the path of a file, or the name of a cached profile. Throws UsageError that lists the names.
Profile find_any_profile(const std::string& name);

/// A virtual device's own profile; for a GPU the cached one, or, said on stderr, one measured now and kept.
Profile profile_of(Device&);

struct Measured {
  MeasureResult result;
  Profile profile;
};
/// Measures with progress on stderr and fits; `command` goes into the profile as its source.
Measured measure_profile(Device&, MeasureOptions, const std::string& command);
/// Fits what was measured; its name is the GPU's.
Profile profile_from(const MeasureResult&, const DeviceInfo&, const std::string& command);

}  // namespace shiplap::cli
