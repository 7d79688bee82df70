#include "cli/devices.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/device/open.hpp"

namespace shiplap::cli {
namespace {

Json to_json(const DeviceInfo& info) {
  Json json{{"id", info.id},
            {"name", info.name},
            {"virtual", info.is_virtual},
            {"memory", quantity_json(info.memory)},
            {"free_memory", quantity_json(info.free_memory)},
            {"sm_count", info.sm_count},
            {"copy_engines", info.copy_engines},
            {"resident_threads", info.resident_threads},
            {"l2_cache", quantity_json(info.l2_cache)},
            {"limits", info.limits},
            {"conditions", Json::object()}};
  for (const auto& [name, value] : info.conditions) json["conditions"][name] = value;
  return json;
}

}  // namespace

void add_devices(CLI::App& app) {
  auto options = std::make_shared<DevicesOptions>();
  auto* command = app.add_subcommand("devices", "List the devices that can be opened, and why a backend is missing");
  add_json_flag(*command, options->json);
  command->callback([options] { run_devices(*options); });
}

void run_devices(const DevicesOptions& options) {
  const DeviceListing listing = list_devices();
  if (options.json) {
    Json json{{"default", default_device()}, {"devices", Json::array()}, {"absent", listing.absent}};
    for (const DeviceInfo& info : listing.devices) json["devices"].push_back(to_json(info));
    print_json(json);
    return;
  }
  const TextStyle style = style_of_stdout();
  const auto count = [](unsigned n) { return n > 0 ? std::to_string(n) : std::string("–"); };
  Table table{.columns = {{"device", Align::left},
                          {"name", Align::left},
                          {"memory", Align::right},
                          {"SMs", Align::right},
                          {"copy engines", Align::right},
                          {"", Align::left}}};
  for (const DeviceInfo& info : listing.devices)
    table.add(
        {info.id, info.name, to_string(info.memory), count(info.sm_count), count(info.copy_engines), info.limits});
  print(table.text(style));
  print(fmt::format("\ndefault: {}\n", default_device()));
  for (const std::string& reason : listing.absent) print(wrap(reason, style.width, "  ") + "\n");
}

}  // namespace shiplap::cli
