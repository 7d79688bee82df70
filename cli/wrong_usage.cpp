#include "cli/wrong_usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/completion.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/spelling.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/strategy.hpp"

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

/// Options of other tools, or of other commands, and the option that does it here.
constexpr std::pair<std::string_view, std::string_view> other_options[]{{"--gpu", "--device cuda:0"},
                                                                        {"--simulate", "--device virtual:h200"},
                                                                        {"--iterations", "--repeat"},
                                                                        {"--iters", "--repeat"},
                                                                        {"--runs", "--reuse"},
                                                                        {"--format", "--json"},
                                                                        {"--verbose", "--all"},
                                                                        {"--why", "--all"},
                                                                        {"--unified", "--memory managed"}};

/// The options that were probably meant by one of no similar spelling: one that takes the word as its value, as
/// `--memory pageable` for `--pageable`, or one that does what another tool calls so.
std::vector<std::string> options_for(std::string_view given, const CLI::App& command) {
  const std::string word(given.substr(std::min<std::size_t>(given.size(), 2)));
  std::vector<std::string> meant;
  for (const CLI::Option* option : command.get_options())
    if (!option->get_lnames().empty())
      if (const std::vector<std::string> values = members_of(option->get_type_name());
          std::ranges::find(values, word) != values.end())
        meant.push_back(fmt::format("--{} {}", option->get_lnames().front(), word));
  if (command.get_option_no_throw("--strategy") != nullptr && meant.empty() &&
      std::ranges::find(strategies(), word, &Strategy::name) != strategies().end())
    meant.push_back("--strategy " + word);
  for (const auto& [other, here] : other_options)
    if (given == other && command.get_option_no_throw(std::string(here.substr(0, here.find(' ')))) != nullptr)
      meant.emplace_back(here);
  return meant;
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> known;
  for (const CLI::App* command : commands) known.push_back(command->get_name());
  return known;
}

bool is_name_of_device(std::string_view argument) {
  return argument.starts_with("cuda:") || argument.starts_with("virtual:");
}

bool is_built_in_profile(std::string_view argument) {
  const auto profiles = built_in_profiles();
  return std::ranges::find(profiles, argument) != profiles.end();
}

[[noreturn]] void refuse(std::string_view parent, std::string_view given, const std::vector<std::string>& known) {
  std::vector<std::string> meant = names_like(given, known);
  if (parent == "shiplap")
    for (const auto& [other, command] : other_names)
      if (given == other) meant.emplace_back(command);
  if (parent == "profiles" && is_built_in_profile(given)) meant.push_back("show " + std::string(given));
  throw UsageError(fmt::format("there is no command \"{} {}\"; {}", parent, given,
                               meant.empty() ? fmt::format("the commands are {}", fmt::join(known, ", "))
                                             : fmt::format("did you mean {} ({} --help lists all commands)?",
                                                           fmt::join(meant, " or "), parent)));
}

/// The command that was given, the innermost one.
const CLI::App& command_of(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

/// "(shiplap fleet check --help lists all options)".
std::string where_help_is(const CLI::App& program) {
  std::string name = program.get_name();
  for (const CLI::App* app = &program; !app->get_subcommands().empty();) {
    app = app->get_subcommands().front();
    name += " " + app->get_name();
  }
  return fmt::format("({} --help lists all options)", name);
}

/// What a message of CLI11 says between two of its words; "" where it does not have them.
std::string_view between(std::string_view message, std::string_view before, std::string_view behind) {
  const std::size_t begin = message.find(before);
  if (begin == std::string_view::npos) return "";
  message.remove_prefix(begin + before.size());
  return message.substr(0, message.find(behind));
}

std::string message_on_missing(const CLI::App& command, const std::string& name) {
  if (const CLI::Option* option = command.get_option_no_throw(name))
    return fmt::format("{} is missing: {}", name, option->get_description());
  return fmt::format(
      "a command is missing, one of: {}",
      fmt::join(names_of(command.get_subcommands([](const CLI::App* sub) { return !sub->get_name().empty(); })), ", "));
}

std::string message_on_value(const std::string& option, std::string_view message) {
  const std::size_t members = message.find(" not in {");
  if (members == std::string_view::npos)
    return fmt::format("{}: {} is not a number from {}", option, between(message, "Value ", " not in range "),
                       between(message, " not in range ", "\n"));
  const std::string given(between(message, ": ", " not in {"));
  const std::vector<std::string> known = members_of(std::string(message.substr(members)));
  const std::string meant = did_you_mean(given, known);
  return fmt::format("{}: {} is none of {}{}", option, given, fmt::join(known, ", "),
                     meant.empty() ? "" : "; " + meant.substr(0, meant.size() - 1));
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
  const CLI::App& command = command_of(program);
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const std::vector<std::string> given = program.remaining(true);
  std::string hint;
  for (const std::string& argument : given)
    if (argument.starts_with("--")) {
      const std::string name = argument.substr(0, argument.find('='));
      const std::vector<std::string> meant = options_for(name, command);
      hint += meant.empty() ? did_you_mean(name, known) : fmt::format("did you mean {}? ", fmt::join(meant, " or "));
    } else if (is_name_of_device(argument) && std::ranges::find(known, "--device") != known.end()) {
      hint += fmt::format("did you mean --device {}? ", argument);
    } else if (is_built_in_profile(argument) && std::ranges::find(known, "--profile") != known.end()) {
      hint += fmt::format("did you mean --profile {}? ", argument);
    }
  if (const CLI::Option* recording = command.get_option_no_throw("recording"); recording != nullptr && hint.empty())
    hint = fmt::format("did you mean shiplap advise -- {} {}? ", recording->as<std::string>(), fmt::join(given, " "));
  if (!hint.empty()) hint = "; " + hint.substr(0, hint.size() - 1);
  return fmt::format("\"{}\" is not expected here{} {}", fmt::join(given, " "), hint, where_help_is(program));
}

std::string message_on_wrong_usage(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = command_of(program);
  const std::string help = " " + where_help_is(program);
  const std::string message = error.what();
  const std::string option = message.substr(0, message.find_first_of(": "));
  if (error.get_name() == "RequiredError") {
    const bool wants_command = command.get_option_no_throw(option) == nullptr;
    return wants_command && program.remaining_size(true) > 0 ? message_on_unexpected(program)
                                                             : message_on_missing(command, option) + help;
  }
  if (const CLI::Option* wanting = command.get_option_no_throw(option);
      wanting != nullptr && error.get_name() == "ArgumentMismatch") {
    if (const std::size_t given = wanting->count(); given > 1)
      return fmt::format("{} is given {} times; give it once{}", option, given, help);
    return fmt::format("{} needs a value, {}: {}{}", option, wanting->get_type_name(), wanting->get_description(),
                       help);
  }
  if (error.get_name() == "ValidationError" && message.find(" not in ") != std::string::npos)
    return message_on_value(option, message) + help;
  return message + help;
}

}  // namespace shiplap::cli
