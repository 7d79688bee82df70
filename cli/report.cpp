#include "cli/report.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "cli/common.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/pipeline/profile_cache.hpp"
#include "shiplap/report/page/page.hpp"
#include "shiplap/report/page/report.hpp"

namespace shiplap::cli {
namespace {

/// A built-in or a cached profile. The name comes from a file, so that it is never taken for a path.
std::optional<Profile> known_profile(const std::string& name) {
  const std::vector<std::string> built_in = built_in_profiles();
  const bool is_known = std::ranges::find(built_in, name) != built_in.end() ||
                        std::ranges::any_of(cached_profiles(), [&](const auto& file) { return file.stem() == name; });
  if (!is_known) return std::nullopt;
  try {
    return find_any_profile(name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Opens a file with the program that the desktop has for it.
void open_file(std::string path) {
  std::string program = "xdg-open";
  const std::array<char*, 3> arguments{program.data(), path.data(), nullptr};
  pid_t child = 0;
  int status = 0;
  if (posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0 ||
      waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(fmt::format("{} is written, but xdg-open cannot show it here: open it in a browser", path));
}

}  // namespace

void add_report(CLI::App& app) {
  auto flags = std::make_shared<ReportFlags>();
  auto* command = app.add_subcommand("report", "Show profiles, plans, runs and more as one HTML page");
  declare_file(
      command->add_option("files", flags->files,
                          "profiles, logs of adaptive runs, and what check, compare, plan, run, tune, evaluate, "
                          "movers, advise and reproduce print with --json"),
      FileUse::read)
      ->type_name("FILE")
      ->required();
  declare_file(command->add_option("-o,--output", flags->output, "write the page into this file"), FileUse::write)
      ->type_name("FILE")
      ->required();
  command->add_option("--title", flags->title, "title of the page")->type_name("TEXT");
  command->add_flag("--no-map", flags->no_map, "leave out the map of strategies, which takes seconds");
  command->add_flag("--open", flags->open, "show the page in a browser");
  command->footer(
      "The page is one file and needs no network. A run has its timeline when it was made with --json --gantt.\n"
      "docs/how-to/report.md shows what is on the page.");
  command->callback([flags] { run_report_command(*flags); });
}

void run_report_command(const ReportFlags& flags) {
  std::vector<page::ReportFile> files;
  for (const std::string& name : flags.files) files.push_back({name, read_text_file(name, limits::log_bytes)});
  page::PageOptions options{.title = flags.title, .find_profile = known_profile};
  if (flags.no_map) options.map.reset();
  write_file_atomically(flags.output, page::html(page::report(files, options)));
  print(fmt::format("report written to {}\n", printable(flags.output)));
  if (flags.open) open_file(flags.output);
}

}  // namespace shiplap::cli
