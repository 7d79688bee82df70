#include "cli/completion.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <vector>

#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::cli {
namespace {

using Words = std::vector<std::string>;

Words names_of_workloads() {
  Words all;
  for (const WorkloadHelp& workload : built_in_workloads()) all.emplace_back(workload.name);
  return all;
}

Words names_of_strategies() {
  Words all{"auto"};
  for (const Strategy& strategy : strategies()) all.emplace_back(strategy.name);
  return all;
}

Words names_of_devices() {
  Words all{"cuda:0"};
  for (const std::string& profile : built_in_profiles()) all.push_back("virtual:" + profile);
  return all;
}

/// The values in "KIND:{pageable,pinned,managed}"; none where the type has no braces.
Words members_of(const std::string& type) {
  Words all;
  std::size_t begin = type.find('{');
  while (begin != std::string::npos && begin + 1 < type.size()) {
    const std::size_t end = type.find_first_of(",}", begin + 1);
    if (end == std::string::npos) break;
    all.push_back(type.substr(begin + 1, end - begin - 1));
    begin = type[end] == ',' ? end : std::string::npos;
  }
  return all;
}

/// The values of an option that are known.
Words values_of(const CLI::Option& option) {
  if (Words members = members_of(option.get_type_name()); !members.empty()) return members;
  const std::string name = option.get_name();
  if (name == "--strategy" || name == "--strategies") return names_of_strategies();
  if (name == "--device") return names_of_devices();
  if (name == "WORKLOAD") return names_of_workloads();
  constexpr std::array of_profiles{"--profile", "--link", "NAME", "BASELINE", "NOW"};
  return std::ranges::find(of_profiles, name) != of_profiles.end() ? built_in_profiles() : Words{};
}

std::string lines_of(const Words& words) {
  std::string lines;
  for (const std::string& word : words) lines += word + "\n";
  return lines;
}

std::string line_of(const std::string& name, const std::string& description) {
  return fmt::format("{}\t{}\n", name, description.substr(0, description.find('\n')));
}

std::string lines_of_options(const CLI::App& command) {
  std::string lines;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) lines += line_of("--" + name, option->get_description());
  return lines;
}

const CLI::Option* option_named(const CLI::App& command, std::string_view word) {
  return word.starts_with('-') ? command.get_option_no_throw(std::string(word)) : nullptr;
}

}  // namespace

std::string completions(const CLI::App& program, std::span<const std::string_view> words) {
  if (words.empty()) return {};
  const CLI::App* command = &program;
  for (const std::string_view word : words.first(words.size() - 1)) {
    if (word == "--") return {};  // the command line of another program
    const auto inner = command->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (!inner.empty()) command = inner.front();
  }
  const std::string_view last = words.back();
  if (words.size() > 1)
    if (const CLI::Option* option = option_named(*command, words[words.size() - 2]);
        option != nullptr && option->get_type_size() > 0)
      return lines_of(values_of(*option));
  if (last.starts_with('-')) return lines_of_options(*command);
  std::string lines;
  for (const CLI::App* inner : command->get_subcommands([](const CLI::App*) { return true; }))
    lines += line_of(inner->get_name(), inner->get_description());
  for (const CLI::Option* option : command->get_options())
    if (option->get_positional()) lines += lines_of(values_of(*option));
  return lines;
}

}  // namespace shiplap::cli
