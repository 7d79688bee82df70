#include "cli/fleet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/common.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/fleet/judge.hpp"
#include "shiplap/report/fleet_report.hpp"

namespace shiplap::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_named = 10;
constexpr std::size_t longest_message = 300;

/// The files that are named, and those in folders that are named, by name.
std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(path))
      if (entry.is_regular_file() && entry.path().extension() == ".json") found.push_back(entry.path().string());
    std::ranges::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

/// What could be read, and why the rest could not.
struct Collected {
  std::vector<NodeResult> results;
  std::vector<std::string> unreadable;
};

Collected collect(const std::vector<std::string>& files) {
  Collected collected;
  for (const std::string& file : files) {
    try {
      const Json json = read_json_file(file);
      collected.results.push_back(node_result_from_json(JsonReader(json, file)));
    } catch (const Error& error) {
      collected.unreadable.push_back(printable(error.what(), longest_message));
    }
  }
  return collected;
}

/// Names in a file, one in a line, of nodes that have no result.
std::vector<std::string> missing_nodes(const std::string& file, const std::vector<NodeResult>& results) {
  if (file.empty()) return {};
  std::set<std::string> there;
  for (const NodeResult& result : results) there.insert(result.node);
  std::vector<std::string> missing;
  std::istringstream lines(read_text_file(file));
  for (std::string name; lines >> name;)
    if (!there.contains(name)) missing.push_back(printable(name, longest_message));
  return missing;
}

std::string listed(const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::size_t shown = std::min(names.size(), most_named);
  std::string text = fmt::format("{} {}:\n", names.size(), what);
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("  {}\n", names[i]);
  if (shown < names.size()) text += fmt::format("  and {} more\n", names.size() - shown);
  return text + "\n";
}

}  // namespace

void add_fleet(CLI::App& app) {
  auto* fleet = app.add_subcommand("fleet", "Judge the nodes of a fleet against each other");
  fleet->require_subcommand(1);
  auto flags = std::make_shared<FleetCollectFlags>();
  auto* command = fleet->add_subcommand("collect", "Judge checks that many nodes have written");
  command
      ->add_option(
          "paths", flags->paths,
          "files that shiplap check --json has printed, or folders with them; several of a GPU are repetitions")
      ->type_name("PATH")
      ->required();
  command->add_option("--expect", flags->expect, "names of nodes, one in a line: those without a result are reported")
      ->type_name("FILE");
  add_json_flag(*command, flags->json);
  command->footer(
      "Exit status: 0 no node is sick, 2 a node is sick, 1 nothing could be judged. Files that cannot be read and "
      "nodes\n"
      "without a result are reported, and the rest is judged.");
  command->callback([flags] { run_fleet_collect(*flags); });
}

void run_fleet_collect(const FleetCollectFlags& flags) {
  const Collected collected = collect(files_of(flags.paths));
  const std::vector<std::string> missing = missing_nodes(flags.expect, collected.results);
  if (collected.results.empty())
    throw Error(fmt::format("no check could be read in {}{}", fmt::join(flags.paths, ", "),
                            collected.unreadable.empty() ? "" : ": " + collected.unreadable.front()));
  const JudgedFleet judged = judge(collected.results);
  if (flags.json) {
    Json json = to_json(judged);
    json["missing"] = missing;
    json["unreadable"] = collected.unreadable;
    print_json(json);
  } else {
    print(listed("nodes without a result", missing) + listed("files that cannot be read", collected.unreadable) +
          fleet_report(judged, style_of_stdout()));
  }
  if (const std::size_t sick = judged.count(NodeState::sick); sick > 0)
    throw CheckFailed(fmt::format("{} of {} GPUs {} not like {} peers", sick, judged.nodes.size(),
                                  sick == 1 ? "is" : "are", sick == 1 ? "its" : "their"));
}

}  // namespace shiplap::cli
