#include "cli/measure.hpp"

#include <fmt/format.h>

#include <memory>

#include "cli/common.hpp"
#include "cli/profile_cache.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/report/profile_report.hpp"

namespace shiplap::cli {
namespace {

void list_primitives(bool json) {
  if (json) {
    Json array = Json::array();
    for (const Primitive& p : primitives())
      array.push_back({{"name", p.name}, {"clock", p.clock}, {"summary", p.summary}});
    print_json({{"primitives", array}});
    return;
  }
  Table table({{"primitive", Align::left}, {"clock", Align::left}, {"what", Align::left}});
  for (const Primitive& p : primitives())
    table.add({std::string(p.name), std::string(p.clock), std::string(p.summary)});
  print(table.text(style_of_stdout()));
}

std::string command_line(const MeasureFlags& flags, const std::string& device) {
  return fmt::format("shiplap measure --device {}{}{}", device, flags.quick ? " --quick" : "",
                     flags.only == "*" ? "" : fmt::format(" --only '{}'", flags.only));
}

}  // namespace

void add_measure(CLI::App& app) {
  auto flags = std::make_shared<MeasureFlags>();
  auto* command = app.add_subcommand("measure", "Measure a device's link and fit its profile");
  add_device_flag(*command, flags->device);
  auto* quick = command->add_flag("--quick", flags->quick, "few points, up to 15 s");
  command->add_flag("--standard", flags->standard, "all points, up to 90 s (default)")->excludes(quick);
  command->add_option("--only", flags->only, "only primitives that match, as in 'copy.*'; nothing is kept then")
      ->type_name("GLOB")
      ->capture_default_str();
  command->add_flag("--list", flags->list, "list the primitives and stop");
  command->add_option("--name", flags->name, "name of the profile (default: the GPU's)")->type_name("NAME");
  command->add_option("-o,--output", flags->output, "write the profile to this file")->type_name("FILE");
  add_json_flag(*command, flags->json);
  command->footer("The profile of a GPU is also kept in the cache, where plan and run find it.");
  command->callback([flags] { run_measure(*flags); });
}

void run_measure(const MeasureFlags& flags) {
  if (flags.list) {
    list_primitives(flags.json);
    return;
  }
  if (!flags.output.empty()) require_writable(flags.output, "-o");
  const auto device = open(flags.device.empty() ? default_device() : flags.device);
  const DeviceInfo info = device->info();
  MeasureOptions options;
  options.effort = flags.quick ? Effort::quick : Effort::standard;
  options.only = flags.only;
  Measured measured = measure_profile(*device, options, command_line(flags, info.id));
  if (!flags.name.empty()) measured.profile.name = flags.name;

  const bool whole = flags.only == "*";
  if (!flags.output.empty()) save_profile(measured.profile, flags.output);
  if (whole && !info.is_virtual && measured.result.failed.empty()) keep_profile(measured.profile, info);

  const TextStyle style = style_of_stdout();
  if (flags.json) {
    print_json(to_json(measured.profile));
  } else {
    print(whole ? profile_report(measured.profile, style) : measurements_report(measured.result.measurements, style));
    if (!flags.output.empty()) print(fmt::format("\nprofile written to {}\n", flags.output));
  }
  fmt::print(stderr, "{}", skips_report(measured.result));
  if (!measured.result.failed.empty())
    throw CheckFailed(fmt::format("{} of {} points failed and are not in the profile", measured.result.failed.size(),
                                  measured.result.failed.size() + measured.result.measurements.size()));
}

}  // namespace shiplap::cli
