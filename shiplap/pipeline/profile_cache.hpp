// A cache of the profiles of this node's GPUs, so that they are measured once, and the search for a profile by name.
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

class MeasurableDevice;
struct Node;

/// The name of this computer, or "host" when it is unknown.
std::string host_name();
/// $XDG_CACHE_HOME/shiplap or ~/.cache/shiplap; nullopt when neither variable is set.
std::optional<std::filesystem::path> cache_directory();
/// The bus addresses of the GPUs of a device, for people and hashes. For several GPUs their number comes first.
std::string bus_addresses(const DeviceInfo&);
/// Path of the cached profile of a device, made of the name of its GPU, the driver, the bus address of its GPU, for
/// several their number and a hash of all addresses, and the host; nullopt without a cache directory. The name of the
/// file is short enough for every file system.
std::optional<std::filesystem::path> cache_path(const DeviceInfo&);
/// The profiles in the cache, sorted by path.
std::vector<std::filesystem::path> cached_profiles();
/// The profile in the cache whose file has this name without ".json"; nullopt when there is none.
std::optional<std::filesystem::path> cached_profile(const std::string& name);
/// Reads a profile of the cache. Throws Error, also for what is no regular file.
Profile load_cached_profile(const std::filesystem::path&);
/// Writes the profile to the cache. Returns a sentence for the user with the path, or with the reason why it was not
/// written.
std::string keep_profile(const Profile&, const DeviceInfo&);

/// The profile with a built-in name, the name of a cached profile, or the path of a file: a profile, or the output of
/// another tool (`read_tool_output`). Throws UsageError that lists the names when there is none.
Profile find_any_profile(const std::string& name);

struct Measured {
  MeasureResult result;
  Profile profile;
};
/// Fits a profile to the measurements. It has the GPU's name, and `command` as its source.
Profile profile_from(const MeasureResult&, const DeviceInfo&, const std::string& command);

/// The profile of a device: the own profile of a virtual device, the cached profile of a GPU, or else the result of
/// `measure_now`, which is cached unless a measurement failed. With `may_assume`, the built-in profile of GPUs of its
/// name stands for a GPU without a cached one, if there is one. `say` receives messages for the user. Throws Error for
/// a cached file that cannot be read.
Profile profile_of(Device&,
                   const std::function<Measured(const MeasureOptions&, const std::string& command)>& measure_now,
                   const std::function<void(std::string_view)>& say, bool may_assume = false);

/// The node of a device as `load_or_measure` makes it, without waiting for a measurement: where a GPU has no cached
/// profile, the built-in one of GPUs of its name stands for it, if there is one, and `say` says so.
Node load_or_assume(MeasurableDevice&, const std::function<void(std::string_view)>& say = {});

}  // namespace shiplap
