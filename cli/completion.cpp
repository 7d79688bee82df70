#include "cli/completion.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <vector>

#include "shiplap/device/device_name.hpp"
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

/// The GPUs of a device that could stand behind a comma: other numbers behind "cuda:0,", and the name of the profile
/// again behind "virtual:h200,".
Words further_gpus(std::string_view given) {
  if (given.starts_with(virtual_prefix)) {
    const std::string_view list = given.substr(virtual_prefix.size());
    if (list.find(':') != std::string_view::npos) return {};  // "h200:2" says how many there are
    return {std::string(list.substr(0, list.find(',')))};
  }
  Words numbers;
  constexpr int most_offered = 8;
  if (given.starts_with(cuda_prefix))
    for (int gpu = 0; gpu < most_offered; ++gpu) numbers.push_back(std::to_string(gpu));
  return numbers;
}

}  // namespace

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

namespace {

/// The values of an option that are known.
Words values_of(const CLI::Option& option) {
  if (Words members = members_of(option.get_type_name()); !members.empty()) return members;
  const std::string name = option.get_name();
  if (name == "--strategy") return names_of_strategies();
  if (name == "--strategies") {
    Words all = names_of_strategies();
    std::erase(all, "auto");
    return all;
  }
  if (name == "--device") return names_of_devices();
  if (name == "--memory") return {"pageable", "pinned", "managed"};
  if (name == "WORKLOAD") return names_of_workloads();
  constexpr std::array of_profiles{"--profile", "--link", "NAME", "BASELINE", "NOW"};
  return std::ranges::find(of_profiles, name) != of_profiles.end() ? built_in_profiles() : Words{};
}

/// Whether the word is one of those that commas separate.
bool is_in_list(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

/// What can stand in place of `given`, the value of an option as far as it is typed. Of a list, the last part is typed,
/// and names are offered that it does not have yet.
Words values_in_place_of(const CLI::Option& option, std::string_view given) {
  const std::size_t comma = given.rfind(',');
  const bool is_device = option.get_name() == "--device";
  if (comma == std::string_view::npos || !(is_device || option.get_delimiter() == ',')) return values_of(option);
  const std::string_view begin = given.substr(0, comma + 1);
  std::string_view listed = begin;
  if (is_device) listed = begin.starts_with(cuda_prefix) ? begin.substr(cuda_prefix.size()) : std::string_view{};
  Words all;
  for (const std::string& value : is_device ? further_gpus(given) : values_of(option))
    if (!is_in_list(listed, value)) all.push_back(std::string(begin) + value);
  return all;
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
      return lines_of(values_in_place_of(*option, last));
  if (const std::size_t equals = last.find('='); last.starts_with("--") && equals != std::string_view::npos) {
    const CLI::Option* option = option_named(*command, last.substr(0, equals));
    if (option == nullptr || option->get_type_size() == 0) return {};
    Words all = values_in_place_of(*option, last.substr(equals + 1));
    for (std::string& value : all) value.insert(0, last.substr(0, equals + 1));
    return lines_of(all);
  }
  if (last.starts_with('-')) return lines_of_options(*command);
  std::string lines;
  for (const CLI::App* inner : command->get_subcommands([](const CLI::App*) { return true; }))
    lines += line_of(inner->get_name(), inner->get_description());
  for (const CLI::Option* option : command->get_options())
    if (option->get_positional()) lines += lines_of(values_of(*option));
  return lines;
}

}  // namespace shiplap::cli
