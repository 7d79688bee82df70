#include "cli/fleet.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/common.hpp"
#include "cli/fleet_check.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/file_system.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/measure/node_result.hpp"
#include "shiplap/pipeline/node_check.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_message = 300;

/// What could be read, and why the rest could not.
struct Collected {
  std::vector<NodeResult> results;
  std::vector<std::string> unreadable{};
};

/// Collects the checks in files and folders. A path that cannot be read is the problem of one node.
class Collector {
 public:
  /// `history` is no check, whatever folder it lies in.
  explicit Collector(std::string history) : history_(std::move(history)) {}

  void add(const std::string& path) {
    unless_unreadable([&] {
      if (!is_folder(path)) return add_check(read_text_file(path), path);
      for (const fs::path& file : entries_of(path))
        if (file.extension() == ".json") unless_unreadable([&] { add_file_of_folder(file); });
    });
  }
  const Collected& collected() const { return collected_; }

 private:
  void add_file_of_folder(const fs::path& file) {
    if (!is_folder(file) && !are_one_file(file, history_)) add_check(read_regular_file(file), file);
  }
  void add_check(const std::string& text, const std::string& file) {
    const Json json = parse_json(text, file);
    if (const auto schema = json.find("schema"); schema != json.end() && *schema == formats::profile.schema)
      return add_profile(profile_from_json(json, file), file);
    collected_.results.push_back(Form<NodeResult>::read(JsonReader(json, file)));
  }
  /// A profile is judged as it is, as a node of its own with the name of its file: many have the name of their GPU.
  void add_profile(const Profile& profile, const std::string& file) {
    NodeResult result = result_of(check_profile(profile));
    result.node = result.gpu = fs::path(file).stem().string();
    collected_.results.push_back(std::move(result));
  }
  void unless_unreadable(const std::function<void()>& read) {
    try {
      read();
    } catch (const Error& error) {
      collected_.unreadable.push_back(printable(error.what(), longest_message));
    }
  }

  std::string history_;
  Collected collected_;
};

}  // namespace

namespace {

void add_fleet_collect(CLI::App& fleet) {
  auto flags = std::make_shared<FleetCollectFlags>();
  auto* command = fleet.add_subcommand("collect", "Judge checks that many nodes have written");
  declare_file(
      command->add_option(
          "paths", flags->paths,
          "files that shiplap check --json has printed, or folders with them; several of a GPU are repetitions"),
      FileUse::read)
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
  std::vector<std::string> expected = expected_nodes(flags.output);
  Collector collector(flags.output.history);
  for (const std::string& path : flags.paths) collector.add(path);
  const Collected& collected = collector.collected();
  report_fleet(collected.results, {.expected = std::move(expected), .missing = {}, .failed = collected.unreadable},
               flags.output, style_of_stdout());
}

}  // namespace shiplap::cli
