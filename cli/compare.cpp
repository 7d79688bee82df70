#include "cli/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/common.hpp"
#include "cli/effects.hpp"
#include "cli/profile_cache.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/measure/compare.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::cli {

void add_compare(CLI::App& app) {
  auto flags = std::make_shared<CompareFlags>();
  auto* command = app.add_subcommand("compare", "Say whether a node became worse than a baseline");
  declare_file(
      command->add_option("BASELINE", flags->baseline, "profile as it should be: a file, or a built-in or kept name"),
      FileUse::read, files_of_profile)
      ->required();
  declare_file(command->add_option("NOW", flags->now, "profile to judge"), FileUse::read, files_of_profile)->required();
  command->add_option("--tolerance", flags->tolerance, "how much longer a figure may take")
      ->type_name("SHARE")
      ->capture_default_str();
  add_all_flag(*command, flags->all, "show every figure, not only those that changed");
  add_json_flag(*command, flags->json);
  command->footer(
      "A figure is degraded when it takes longer by more than the tolerance even at the favourable ends of both 95 % "
      "intervals.\n"
      "Exit status: 0 none is, 2 one is or bytes did not arrive.");
  command->callback([flags] { run_compare(*flags); });
}

void run_compare(const CompareFlags& flags) {
  const double tolerance = parse_fraction(flags.tolerance, "--tolerance");
  const Profile baseline = find_any_profile(flags.baseline);
  const Profile now = find_any_profile(flags.now);
  for (const Profile* profile : {&baseline, &now})
    if (profile->measurements.empty())
      note(
          fmt::format("profile {} ({}) has no measured points, so the rates of large copies are compared and nothing "
                      "else (shiplap measure measures more)",
                      profile->name, to_string(profile->origin)));
  const Comparison comparison = compare(baseline, now, tolerance);
  const document::Detail detail = detail_of(flags.all, flags.json);
  if (flags.json)
    print_json(to_json(comparison));
  else
    print(document::text(document::comparison_section(comparison), style_of_stdout(), detail) +
          (flags.all ? "" : "\n--all shows every figure and every condition that differs.\n"));
  if (!comparison.degraded()) return;
  std::vector<std::string> names;
  for (const std::string& point : comparison.failed) names.push_back(point + " (bytes lost)");
  for (const ComparedFigure& row : comparison.figures)
    if (row.change == Change::degraded) names.push_back(name_of(row.now));
  constexpr std::size_t most_names = 3;
  const std::string more =
      names.size() > most_names ? fmt::format(" and {} more", names.size() - most_names) : std::string();
  names.resize(std::min(names.size(), most_names));
  throw CheckFailed(fmt::format("{} is worse than {}: {}{}", flags.now, flags.baseline, fmt::join(names, "; "), more));
}

}  // namespace shiplap::cli
