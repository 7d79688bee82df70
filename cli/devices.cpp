#include "cli/devices.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.hpp"
#include "cli/effects.hpp"
#include "shiplap/device/listed_devices.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap::cli {
namespace {

Origin origin_of(const DeviceInfo& info) { return find_profile(profile_of_virtual_device(info.id)).origin; }

/// What people look for first: GPUs, then simulated ones, the measured ones before the published ones.
std::vector<DeviceInfo> by_use(std::vector<DeviceInfo> devices) {
  std::ranges::stable_sort(
      devices, {}, [](const DeviceInfo& info) { return info.is_virtual ? 1 + static_cast<int>(origin_of(info)) : 0; });
  return devices;
}

}  // namespace

void add_devices(CLI::App& app) {
  auto options = std::make_shared<DevicesOptions>();
  auto* command = app.add_subcommand("devices", "List devices, and why a backend is missing");
  add_all_flag(*command, options->all, "show the GPUs of publications, which can be simulated, too");
  add_json_flag(*command, options->json);
  command->callback([options] { run_devices(*options); });
}

void run_devices(const DevicesOptions& options) {
  detail_of(options.all, options.json);  // for its note
  const DeviceListing listing = list_devices();
  if (options.json) {
    print_json(to_json(ListedDevices{default_device(), listing.devices, listing.absent}));
    return;
  }
  const TextStyle style = style_of_stdout();
  const auto gpus = std::ranges::count(listing.devices, false, &DeviceInfo::is_virtual);
  print(wrap(gpus > 0
                 ? fmt::format("{} GPU{} here; commands use {} unless --device names another device.", gpus,
                               gpus == 1 ? "" : "s", default_device())
                 : fmt::format(
                       "No GPU here; plan, run, predict and demo simulate {} unless --device names another device.",
                       default_device()),
             style.width) +
        "\n");
  for (const std::string& reason : listing.absent) print(wrap(reason, style.width, "  ") + "\n");
  print("\n");
  const auto count = [](unsigned n) { return n > 0 ? std::to_string(n) : std::string("–"); };
  Table table{.columns = {{"device", Align::left},
                          {"name", Align::left},
                          {"memory", Align::right},
                          {"SMs", Align::right},
                          {"engines", Align::right},
                          {"", Align::left}}};
  std::size_t left_out = 0;
  for (const DeviceInfo& info : by_use(listing.devices)) {
    if (!options.all && info.is_virtual && origin_of(info) != Origin::measured) {
      ++left_out;
      continue;
    }
    table.add({info.id, info.name, to_string(info.memory), count(info.sm_count), count(info.copy_engines),
               info.is_virtual ? fmt::format("simulated ({})", to_string(origin_of(info))) : info.limits});
  }
  print(table.text(style));
  if (left_out > 0) print(fmt::format("\n--all shows {} more simulated GPUs, from publications.\n", left_out));
}

}  // namespace shiplap::cli
