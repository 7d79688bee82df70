#include "cli/fleet_output.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "cli/common.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/fleet/history.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::cli {
namespace {

constexpr std::size_t longest_name = 300;

/// The name of a host without its domain.
std::string short_name(const std::string& host) { return host.substr(0, host.find('.')); }

/// The expected nodes that have no result. A name with its domain and one without are the same.
std::vector<std::string> missing_nodes(const std::vector<std::string>& expected, std::span<const NodeResult> results) {
  std::set<std::string> full;
  std::set<std::string> without_domain;
  for (const NodeResult& result : results) {
    full.insert(result.node);
    if (short_name(result.node) == result.node) without_domain.insert(result.node);
  }
  std::set<std::string> shortened;
  for (const std::string& name : full) shortened.insert(short_name(name));
  std::vector<std::string> missing;
  for (const std::string& name : expected) {
    const bool has_domain = short_name(name) != name;
    if (full.contains(name) || (has_domain ? without_domain.contains(short_name(name)) : shortened.contains(name)))
      continue;
    missing.push_back(printable(name, longest_name));
  }
  return missing;
}

/// Adds the checks of good GPUs to the history. What was judged has been printed, so that an error loses nothing else.
/// Beside a sick GPU an error is only noted, because the exit status is about the GPU.
void remember(const JudgedFleet& judged, std::span<const NodeResult> results, const FleetOutputFlags& flags) {
  if (flags.history.empty()) return;
  try {
    if (const std::string missing = add_to_history(flags.history, judged.to_remember, results); !missing.empty())
      note(fmt::format("{}: {}", flags.history, missing));
  } catch (const Error& error) {
    if (judged.count(NodeState::sick) == 0) throw;
    note(fmt::format("these checks are not in the history: {}", error.what()));
  }
}

}  // namespace

void add_fleet_output_flags(CLI::App& app, FleetOutputFlags& flags) {
  declare_file(app.add_option("--history", flags.history,
                              "compare GPUs with their earlier checks in this file, and add the checks of good ones"),
               FileUse::update)
      ->type_name("FILE");
  declare_file(
      app.add_option("--expect", flags.expect, "names of nodes, one in a line: those without a result are reported"),
      FileUse::read)
      ->type_name("FILE");
  add_json_flag(app, flags.json);
  add_all_flag(app, flags.all, "show the figures of the peers too");
}

std::vector<std::string> expected_nodes(const FleetOutputFlags& flags) {
  if (flags.expect.empty()) return {};
  std::istringstream lines(read_text_file(flags.expect));
  std::vector<std::string> names;
  for (std::string name; lines >> name;) names.push_back(std::move(name));
  return names;
}

void report_fleet(std::span<const NodeResult> results, const FleetGaps& gaps, const FleetOutputFlags& flags,
                  const TextStyle& style) {
  if (results.empty()) {
    std::string reason;
    if (!gaps.failed.empty()) reason = ": " + gaps.failed.front();
    if (gaps.failed.empty() && !gaps.missing.empty()) reason = ": " + gaps.missing.front();
    throw Error("there is no check to judge" + reason);
  }
  const History history = flags.history.empty() ? History() : read_history(flags.history);
  JudgedFleet judged = judge(results, {}, flags.history.empty() ? nullptr : &history);
  judged.missing = missing_nodes(gaps.expected, results);
  judged.missing.insert(judged.missing.end(), gaps.missing.begin(), gaps.missing.end());
  judged.failed = gaps.failed;
  const document::Detail detail = detail_of(flags.all, flags.json);
  if (flags.json)
    print_json(to_json(judged));
  else
    print(document::text(document::fleet_section(judged), style, detail) +
          (flags.all ? "" : "\n--all shows the figures of the peers.\n"));
  std::fflush(stdout);
  remember(judged, results, flags);
  if (const std::size_t sick = judged.count(NodeState::sick); sick > 0)
    throw CheckFailed(fmt::format("{} of {} {} {} sick", sick, judged.nodes.size(),
                                  judged.nodes.size() == 1 ? "GPU" : "GPUs", sick == 1 ? "is" : "are"));
}

}  // namespace shiplap::cli
