#include "shiplap/pipeline/profile_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>

#include "shiplap/core/error.hpp"
#include "shiplap/core/file_system.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/other_tools/imported_profile.hpp"
#include "shiplap/profile/derived.hpp"

namespace shiplap {
namespace fs = std::filesystem;
namespace {

/// The most bytes of a file's name without its extension. File systems take 255, and temporary files have longer names.
constexpr std::size_t most_of_name = 200;

/// The bus addresses for a file's name: that of a single GPU, and a hash of all addresses of several.
std::string addresses_in_name(const DeviceInfo& info) {
  const std::string addresses = bus_addresses(info);
  return info.gpus == 1 ? kebab_case(addresses) : fmt::format("{}-gpus-{}", info.gpus, content_hash(addresses));
}

/// The name, or its beginning and a hash of all of it where file systems may refuse it.
std::string short_enough(const std::string& name) {
  if (name.size() <= most_of_name) return name;
  const std::string hash = content_hash(name);
  return fmt::format("{}-{}", name.substr(0, most_of_name - hash.size() - 1), hash);
}

/// What the file holds, when it is the output of another tool. A pipe, which has been read, has no second text.
std::optional<ToolOutput> output_of_tool(const std::string& file) {
  try {
    return read_tool_output(read_regular_file(file), file);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "host";
  return name.data();
}

std::optional<fs::path> cache_directory() {
  // The XDG Base Directory Specification says that a relative path is ignored.
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && fs::path(cache).is_absolute())
    return fs::path(cache) / "shiplap";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / "shiplap";
  return std::nullopt;
}

std::optional<fs::path> cache_path(const DeviceInfo& info) {
  const auto directory = cache_directory();
  if (!directory) return std::nullopt;
  const auto known = [&](const char* key) {
    const auto found = info.conditions.find(key);
    return found == info.conditions.end() ? fmt::format("unknown-{}", kebab_case(key)) : kebab_case(found->second);
  };
  const std::string name = fmt::format("{}-{}-{}-{}", kebab_case(info.name), known("gpu.driver"),
                                       addresses_in_name(info), kebab_case(host_name()));
  return *directory / (short_enough(name) + ".json");
}

// Two GPUs of one model may have different links, and several have links between them, so all addresses count.
std::string bus_addresses(const DeviceInfo& info) {
  const auto known = [&](const char* key) {
    const auto found = info.conditions.find(key);
    return found == info.conditions.end() ? std::string() : found->second;
  };
  const std::string first = known("gpu.pci_bus_id");
  const std::string one = first.empty() ? "unknown gpu.pci_bus_id" : first;
  if (info.gpus == 1) return one;
  const std::string all = known("gpus.pci_bus_ids");
  // Without the addresses of the others, their numbers in the name of the device tell them apart.
  return fmt::format("{} gpus {}", info.gpus, all.empty() ? one + " " + info.id : all);
}

std::vector<fs::path> cached_profiles() {
  const auto directory = cache_directory();
  std::vector<fs::path> files;
  try {
    if (directory && is_folder(*directory)) files = entries_of(*directory);
  } catch (const Error&) {
    return {};  // a cache that cannot be read has nothing to offer
  }
  std::erase_if(files, [](const fs::path& file) { return file.extension() != ".json"; });
  return files;
}

std::optional<fs::path> cached_profile(const std::string& name) {
  const std::vector<fs::path> files = cached_profiles();
  const auto found = std::ranges::find(files, name, [](const fs::path& file) { return file.stem().string(); });
  return found == files.end() ? std::nullopt : std::optional(*found);
}

Profile load_cached_profile(const fs::path& file) {
  return profile_from_json(parse_json(read_regular_file(file), file.string()), file.string());
}

std::string keep_profile(const Profile& profile, const DeviceInfo& info) {
  const auto path = cache_path(info);
  if (!path)
    return "the profile is not kept, because neither XDG_CACHE_HOME nor HOME is set: write it with shiplap measure -o "
           "FILE";
  try {
    make_folders(path->parent_path());
    save_profile(profile, *path);
    return fmt::format("profile of {} kept in {}", info.id, path->string());
  } catch (const Error& e) {
    return fmt::format("the profile is not kept: {}", e.what());
  }
}

Profile find_any_profile(const std::string& name) {
  const auto built_in = built_in_profiles();
  const bool is_built_in = std::ranges::find(built_in, name) != built_in.end();
  const auto cached = is_built_in ? std::nullopt : cached_profile(name);
  if (cached) return load_cached_profile(*cached);
  try {
    return find_profile(name);
  } catch (const Error&) {
    if (const auto output = output_of_tool(name)) return imported_profile(*output);
    throw;
  }
}

Profile profile_of(Device& device,
                   const std::function<Measured(const MeasureOptions&, const std::string& command)>& measure_now,
                   const std::function<void(std::string_view)>& say, bool may_assume) {
  const DeviceInfo info = device.info();
  if (info.simulated) return *info.simulated;
  const auto path = cache_path(info);
  std::error_code error;
  if (path && fs::exists(*path, error)) {
    try {
      return load_cached_profile(*path);
    } catch (const Error& e) {
      throw Error(fmt::format("{}\nThis is the cached profile of {}: write it anew with shiplap measure --device {}",
                              e.what(), info.id, info.id));
    }
  }
  if (std::optional<Profile> assumed = may_assume && info.gpus == 1
                                           ? known_profile_of(info.name, condition(info.conditions, "gpu.link"))
                                           : std::nullopt) {
    say(
        fmt::format("there is no profile of {} ({}) yet, so profile {} ({}) stands for it; shiplap measure --device {} "
                    "--quick (about "
                    "15 s) makes plans that fit its link and host",
                    info.id, info.name, assumed->name, to_string(assumed->origin), info.id));
    return *assumed;
  }
  say(
      fmt::format("there is no profile of {} ({}) yet, so it is measured quickly now (about 15 s); shiplap measure "
                  "--device {} measures it in full",
                  info.id, info.name, info.id));
  const Measured measured = measure_now({.effort = Effort::quick, .progress = {}},
                                        fmt::format("shiplap measure --device {} --quick", info.id));
  // An incomplete profile is not cached, so that the next use measures again.
  if (measured.result.failed.empty()) say(keep_profile(measured.profile, info));
  return measured.profile;
}

Profile profile_from(const MeasureResult& result, const DeviceInfo& info, const std::string& command) {
  Profile profile = fit(result.measurements, info);
  for (const auto& [name, value] : result.state) profile.conditions[name] = value;
  if (profile.name.empty()) profile.name = kebab_case(info.name);
  profile.source = command;
  return profile;
}

}  // namespace shiplap
