#include "cli/unknown_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/spelling.hpp"

namespace shiplap::cli {
namespace {

/// Names that users may expect for a command, and the command line that does it.
constexpr std::pair<std::string_view, std::string_view> other_names[]{{"adapt", "run --adaptive"},
                                                                      {"adaptive", "run --adaptive"},
                                                                      {"race", "tune"},
                                                                      {"emit", "plan --emit"},
                                                                      {"benchmark", "measure"},
                                                                      {"bench", "measure"},
                                                                      {"explain", "run --explain"},
                                                                      {"simulate", "run --device virtual:h200"}};

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> known;
  for (const CLI::App* command : commands) known.push_back(command->get_name());
  return known;
}

[[noreturn]] void refuse(std::string_view parent, std::string_view given, const std::vector<std::string>& known) {
  std::vector<std::string> meant = names_like(given, known);
  if (parent == "shiplap")
    for (const auto& [other, command] : other_names)
      if (given == other) meant.emplace_back(command);
  throw UsageError(fmt::format("there is no command \"{} {}\"; {}", parent, given,
                               meant.empty() ? fmt::format("the commands are {}", fmt::join(known, ", "))
                                             : fmt::format("did you mean {} ({} --help lists all commands)?",
                                                           fmt::join(meant, " or "), parent)));
}

}  // namespace

void require_known_command(const CLI::App& program, int argc, const char* const* argv) {
  const CLI::App* app = &program;
  for (int i = 1; i < argc; ++i) {
    const std::vector<const CLI::App*> commands = app->get_subcommands([](const CLI::App*) { return true; });
    const std::string_view given = argv[i];
    if (commands.empty() || given.empty() || given.starts_with('-')) return;
    const auto named = std::ranges::find(commands, given, [](const CLI::App* command) { return command->get_name(); });
    if (named == commands.end()) refuse(app->get_name(), given, names_of(commands));
    app = *named;
  }
}

std::string message_on_unexpected(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  std::vector<std::string> known;
  for (const CLI::Option* option : app->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const std::vector<std::string> given = program.remaining(true);
  std::string hint;
  for (const std::string& argument : given)
    if (argument.starts_with("--")) hint += did_you_mean(argument.substr(0, argument.find('=')), known);
  return fmt::format(
      "\"{}\" is not expected here; {}({} --help lists all options)", fmt::join(given, " "), hint,
      app->get_name() == program.get_name() ? program.get_name() : program.get_name() + " " + app->get_name());
}

}  // namespace shiplap::cli
