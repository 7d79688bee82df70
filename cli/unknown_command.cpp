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

namespace shiplap::cli {
namespace {

/// What people call something that is not a command of that name.
constexpr std::pair<std::string_view, std::string_view> other_names[]{{"adapt", "run --adaptive"},
                                                                      {"adaptive", "run --adaptive"},
                                                                      {"race", "tune"},
                                                                      {"emit", "plan --emit"},
                                                                      {"benchmark", "measure"},
                                                                      {"bench", "measure"},
                                                                      {"explain", "run --explain"},
                                                                      {"simulate", "run --device virtual:h200"}};

/// The number of letters to insert, to leave out, to replace or to swap with the next one (the optimal string alignment
/// distance).
std::size_t edits_between(std::string_view one, std::string_view other) {
  std::vector<std::vector<std::size_t>> edits(one.size() + 1, std::vector<std::size_t>(other.size() + 1));
  for (std::size_t i = 0; i <= one.size(); ++i)
    for (std::size_t j = 0; j <= other.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      const bool same = one[i - 1] == other[j - 1];
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  return edits[one.size()][other.size()];
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> known;
  for (const CLI::App* command : commands) known.push_back(command->get_name());
  return known;
}

/// The known commands that are spelt alike: one begins with the other, or a third of the letters differ at most.
std::vector<std::string> alike(std::string_view given, const std::vector<std::string>& known) {
  std::vector<std::string> found;
  for (const std::string& name : known) {
    const bool beginning = given.size() >= 3 && (name.starts_with(given) || given.starts_with(name));
    if (beginning || 3 * edits_between(given, name) <= std::max(given.size(), name.size())) found.push_back(name);
  }
  return found;
}

[[noreturn]] void refuse(std::string_view parent, std::string_view given, const std::vector<std::string>& known) {
  std::vector<std::string> meant = alike(given, known);
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

}  // namespace shiplap::cli
