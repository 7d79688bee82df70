// Profiles of this node's GPUs, kept so that planning need not measure each time, and the search for a profile.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// What this computer is called.
std::string host_name();
/// $XDG_CACHE_HOME/shiplap or ~/.cache/shiplap; nullopt when neither variable is set.
std::optional<std::filesystem::path> cache_directory();
/// Where the profile of a GPU belongs: its name, driver, bus address and host, in kebab case.
std::optional<std::filesystem::path> cache_path(const DeviceInfo&);
/// Files in the cache, by name.
std::vector<std::filesystem::path> cached_profiles();
/// Creates the directory when needed. Returns where the profile went, or why it could not be kept, for people.
std::string keep_profile(const Profile&, const DeviceInfo&);

/// A built-in name, the path of a file, or the name of a cached profile. Throws UsageError that lists the names.
Profile find_any_profile(const std::string& name);

struct Measured {
  MeasureResult result;
  Profile profile;
};
/// Fits what was measured; its name is the GPU's. `command` goes into the profile as its source.
Profile profile_from(const MeasureResult&, const DeviceInfo&, const std::string& command);

/// A virtual device's own profile; for a GPU the cached one, or what `measure_now` returns, which is kept unless some
/// of it failed. `say` is told what happens. Throws Error for a cached file that cannot be read.
Profile profile_of(Device&,
                   const std::function<Measured(const MeasureOptions&, const std::string& command)>& measure_now,
                   const std::function<void(std::string_view)>& say);

}  // namespace shiplap
