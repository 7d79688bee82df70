#include "cli/fleet.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.hpp"
#include "cli/fleet_check.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"

namespace shiplap::cli {
namespace {

namespace fs = std::filesystem;

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
  std::vector<std::string> unreadable{};
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

}  // namespace

namespace {

void add_fleet_collect(CLI::App& fleet) {
  auto flags = std::make_shared<FleetCollectFlags>();
  auto* command = fleet.add_subcommand("collect", "Judge checks that many nodes have written");
  command
      ->add_option(
          "paths", flags->paths,
          "files that shiplap check --json has printed, or folders with them; several of a GPU are repetitions")
      ->type_name("PATH")
      ->required();
  add_fleet_output_flags(*command, flags->output);
  command->footer(
      fmt::format("{} Files that cannot be read and\nnodes without a result are reported, and the rest is "
                  "judged.",
                  fleet_exit_status));
  command->callback([flags] { run_fleet_collect(*flags); });
}

}  // namespace

void add_fleet(CLI::App& app) {
  auto* fleet = app.add_subcommand("fleet", "Judge the nodes of a fleet against each other");
  fleet->require_subcommand(1);
  add_fleet_check(*fleet);
  add_fleet_collect(*fleet);
  add_fleet_copy(*fleet);
}

void run_fleet_collect(const FleetCollectFlags& flags) {
  const Collected collected = collect(files_of(flags.paths));
  report_fleet(collected.results, {.missing = {}, .failed = collected.unreadable}, flags.output, style_of_stdout());
}

}  // namespace shiplap::cli
