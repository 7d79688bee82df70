#include "cli/check.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.hpp"
#include "cli/node.hpp"
#include "cli/parameter_names.hpp"
#include "cli/profile_cache.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/measure/check.hpp"
#include "shiplap/report/check_report.hpp"
#include "shiplap/report/measurements_report.hpp"
#include "shiplap/report/profile_report.hpp"

namespace shiplap::cli {

void add_check(CLI::App& app) {
  auto flags = std::make_shared<CheckFlags>();
  auto* command = app.add_subcommand("check", "Say whether a node gives what its link, memory and GPU should");
  add_device_flag(*command, flags->device);
  command->add_option("--profile", flags->profile, "judge this profile: a file, or a built-in or kept name")
      ->type_name("P");
  add_json_flag(*command, flags->json);
  command->footer(
      "A GPU is measured now, quickly (about 15 s); a virtual device and --profile are judged as they are.\n"
      "Exit status: 0 nothing is wrong, 2 a figure is bad. What cannot be told is unknown.");
  command->callback([flags] { run_check(*flags); });
}

void run_check(const CheckFlags& flags) {
  if (!flags.profile.empty() && !flags.device.empty())
    throw UsageError("--profile: judge either a profile or a device, not both");
  const auto subject = [&]() -> Profile {
    if (!flags.profile.empty()) return find_any_profile(flags.profile);
    const auto device = open(device_to_measure(flags.device));
    const DeviceInfo info = device->info();
    if (info.is_virtual) return profile_of(*device);
    // An old measurement says nothing about the node today.
    MeasureOptions options;
    options.effort = Effort::quick;
    const Measured measured = measure_profile(*device, options, fmt::format("shiplap check --device {}", info.id));
    fmt::print(stderr, "{}", in_flags(skips_report(measured.result)));
    return measured.profile;
  };
  const Profile profile = subject();
  const std::vector<CheckedFigure> figures = check(profile);
  if (flags.json) {
    Json json = to_json(figures);
    json["profile"] = profile.name;
    json["origin"] = to_string(profile.origin);
    print_json(json);
  } else {
    const TextStyle style = style_of_stdout();
    std::string simulated = simulation_note(profile);
    if (flags.device.starts_with("virtual:"))
      simulated +=
          fmt::format("{} is a virtual device: what follows is about the profile that it simulates.", flags.device);
    print(fmt::format("{} ({}, {})\n{}\n{}", profile.name, to_string(profile.origin), parameter_hash(profile),
                      simulated.empty() ? "" : wrap(simulated, style.width) + "\n", check_report(figures, style)));
  }
  std::string bad;
  for (const CheckedFigure& f : figures)
    if (f.verdict == Verdict::bad) bad += (bad.empty() ? "" : "; ") + f.what;
  if (!bad.empty()) throw CheckFailed(fmt::format("{} does not give what it should: {}", profile.name, bad));
}

}  // namespace shiplap::cli
