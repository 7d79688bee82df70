#include "cli/profiles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "cli/common.hpp"
#include "cli/effects.hpp"
#include "cli/parameter_names.hpp"
#include "cli/profile_cache.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/other_tools/exported_profile.hpp"
#include "shiplap/other_tools/imported_profile.hpp"
#include "shiplap/plan/abilities.hpp"
#include "shiplap/profile/enum_names.hpp"
#include "shiplap/profile/gpu_facts.hpp"
#include "shiplap/report/profile_report.hpp"

namespace shiplap::cli {
namespace {

constexpr const char* built_in_place = "built in";

struct Entry {
  std::string name;
  std::string where;  ///< `built_in_place` or the file
  Profile profile;
};

/// A profile as it is listed.
struct ListedProfile {
  std::string name{};
  Origin origin{};
  std::string gpu{};
  std::string hash{};
  std::string where{};
  std::string plans{};
  std::string source{};
};
template <class V, Like<ListedProfile> R>
void describe(V& v, R& profile) {
  v.field("name", profile.name, "name, which --profile takes");
  v.field("origin", profile.origin, "origin of its figures");
  v.field("gpu", profile.gpu, "name of its first GPU");
  v.field("hash", profile.hash, "hash of its parameters");
  v.field("where", profile.where, "its file, or that it is built in");
  v.field("plans", profile.plans, "what can be planned with it");
  v.field("source", profile.source, "source of its figures");
}

/// A kept file that cannot be read is named on stderr and left out; the others are still of use.
std::vector<Entry> entries() {
  std::vector<Entry> found;
  for (const std::string& name : built_in_profiles()) found.push_back({name, built_in_place, find_profile(name)});
  for (const auto& file : cached_profiles()) {
    try {
      found.push_back({file.stem().string(), file.string(), load_cached_profile(file)});
    } catch (const Error& e) {
      note(e.what());
    }
  }
  return found;
}

std::string gpu_of(const Profile& profile) { return profile.gpus.empty() ? "–" : profile.gpus.front().name; }

/// What people look for first: the profiles of this machine, then those that were measured elsewhere.
void sort_by_use(std::vector<Entry>& all) {
  std::ranges::stable_sort(
      all, {}, [](const Entry& e) { return std::pair(e.where == built_in_place, static_cast<int>(e.profile.origin)); });
}

std::string summary_of(const std::vector<Entry>& all) {
  const auto kept = std::ranges::count_if(all, [](const Entry& e) { return e.where != built_in_place; });
  const auto measured = std::ranges::count_if(
      all, [](const Entry& e) { return e.where == built_in_place && e.profile.origin == Origin::measured; });
  return fmt::format("{} profile{} of this machine{}; built in: {} measured, {} from publications.", kept,
                     kept == 1 ? "" : "s", kept == 0 ? " (shiplap measure makes one)" : "", measured,
                     std::ssize(all) - kept - measured);
}

void list(bool json, bool all) {
  std::vector<Entry> found = entries();
  if (json) {
    std::vector<ListedProfile> listed;
    for (const Entry& e : found)
      listed.push_back({e.name, e.profile.origin, gpu_of(e.profile), parameter_hash(e.profile), e.where,
                        in_flags(abilities(e.profile)), e.profile.source});
    print_json({{"profiles", Form<std::vector<ListedProfile>>{}.write(listed)}});
    return;
  }
  sort_by_use(found);
  const TextStyle style = style_of_stdout();
  Table table{.columns = {{"profile", Align::left},
                          {"origin", Align::left},
                          {"GPU", Align::left},
                          {"hash", Align::left},
                          {"where", Align::left}}};
  for (const Entry& e : found)
    table.add({e.name, to_string(e.profile.origin), gpu_of(e.profile), parameter_hash(e.profile), e.where});
  std::string text = wrap(summary_of(found), style.width) + "\n\n" + table.text(style);
  text += "\n" +
          wrap(all ? fmt::format("Derived from published figures, by the name of the GPU: {}.",
                                 fmt::join(published_gpu_names(), ", "))
                   : "Other GPUs have a derived profile, by their name: --profile \"RTX 4090\". --all names them, "
                     "and says what each profile can do.",
               style.width) +
          "\n";
  for (const Entry& e : found)
    if (all) text += "\n" + wrap(fmt::format("{}: {}", e.name, abilities(e.profile)), style.width, "  ") + "\n";
  print(text);
}

}  // namespace

namespace {

std::vector<std::string> export_forms() {
  std::vector<std::string> names;
  for (const auto& [form, name] : names_of(ExportForm{})) names.emplace_back(name);
  return names;
}

}  // namespace

void add_profiles(CLI::App& app) {
  auto options = std::make_shared<ProfilesOptions>();
  auto* command = app.add_subcommand("profiles", "List the built-in and kept profiles, show or fit one");
  add_all_flag(*command, options->all, "say of each profile what it can do");
  add_json_flag(*command, options->json);
  auto* show = command->add_subcommand("show", "Show what a profile knows, with intervals and what is missing");
  declare_file(show->add_option("NAME", options->show, "built-in or kept profile, or a file"), FileUse::read,
               files_of_profile)
      ->required();
  add_all_flag(*show, options->all, "show every parameter with its interval, and every way to move bytes");
  add_json_flag(*show, options->json);
  auto* refit = command->add_subcommand(
      "refit", "Fit the samples of a measured profile again, as this version does, without measuring anything");
  declare_file(refit->add_option("NAME", options->refit, "built-in or kept profile, or a file"),
               FileUse::read_and_replace, files_of_profile)
      ->required();
  declare_file(refit->add_option("-o,--output", options->output,
                                 "write the profile to this file, which may be the one that was read"),
               FileUse::write)
      ->required()
      ->type_name("FILE");
  auto* import = command->add_subcommand("import", "Make a profile of figures that another tool has measured");
  declare_file(import->add_option("FILE", options->import,
                                  "output of nvbandwidth (text or JSON), bandwidthTest (text or CSV), "
                                  "p2pBandwidthLatencyTest, TransferBench (text or CSV) or Comm|Scope (JSON)"),
               FileUse::read)
      ->required();
  declare_file(import->add_option("-o,--output", options->output, "write the profile to this file, else to stdout"),
               FileUse::write)
      ->type_name("FILE");
  import->add_option("--name", options->name, "name of the profile");
  import->add_option("--gpu", options->gpu, "name of the GPU, where the tool does not print it or it is not known");
  import->footer(
      "What the tool does not measure is absent, or assumed with a wide interval; profiles show names it.\n"
      "check, compare and plan take such a file of a tool in place of a profile too.");
  auto* to_export = command->add_subcommand("export", "Write the figures of a profile for other tools");
  declare_file(to_export->add_option("NAME", options->exported, "built-in or kept profile, a GPU, or a file"),
               FileUse::read, files_of_profile)
      ->required();
  to_export
      ->add_option("--for", options->form,
                   "csv: a table by direction and size; or the settings of a simulator of serving")
      ->type_name("TOOL")
      ->check(CLI::IsMember(export_forms()))
      ->capture_default_str();
  to_export->add_option("--block", options->block, "inference-sim: bytes of a block of the KV cache, as in 2MiB")
      ->type_name("SIZE");
  to_export->add_option("--tokens", options->tokens, "inference-sim: tokens of a block")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20))
      ->capture_default_str();
  declare_file(to_export->add_option("-o,--output", options->output, "write to this file, else to stdout"),
               FileUse::write)
      ->type_name("FILE");
  auto* schema = command->add_subcommand("schema", "Print the JSON Schema of profile files");
  schema->callback([options] { options->schema = true; });
  command->callback([options] { run_profiles(*options); });
}

namespace {

void import_profile(const ProfilesOptions& options) {
  if (options.json) note("--json has no effect: a profile is JSON");
  const ToolOutput output = read_tool_output(read_text_file(options.import), options.import);
  const Profile profile = imported_profile(output, {.name = options.name, .gpu = options.gpu});
  if (!output.left_out.empty())
    note(fmt::format("left out, because a profile has no parameter for it: {}", fmt::join(output.left_out, ", ")));
  if (options.output.empty()) return print_json(to_json(profile));
  save_profile(profile, options.output);
  print(fmt::format("{} figures of {} written to {} as profile {} (hash {})\n", output.figures.size(), output.tool,
                    options.output, profile.name, parameter_hash(profile)) +
        wrap(fmt::format("What it can do: {}.", abilities(profile)), style_of_stdout().width) + "\n");
}

void export_profile(const ProfilesOptions& options) {
  if (options.json) note("--json has no effect: --for says the form");
  std::optional<CacheBlock> block;
  if (!options.block.empty()) block = {parse_bytes(options.block, "--block"), options.tokens};
  const std::string text =
      exported_profile(find_any_profile(options.exported), *value_of<ExportForm>(options.form), block);
  if (options.output.empty()) return print_verbatim(text);
  write_file_atomically(options.output, text);
}

}  // namespace

void run_profiles(const ProfilesOptions& options) {
  const document::Detail detail = detail_of(options.all, options.json);
  if (options.schema) {
    print_json(profile_schema());
    return;
  }
  if (!options.import.empty()) return import_profile(options);
  if (!options.exported.empty()) return export_profile(options);
  if (!options.refit.empty()) {
    if (options.json) note("--json has no effect: the fitted profile is written to the file of --output");
    const Profile before = find_any_profile(options.refit);
    const Profile profile = fit_again(before);
    save_profile(profile, options.output);
    print(fmt::format("{} ({}) fitted again: {}, written to {}\n", before.name, parameter_hash(before),
                      parameter_hash(profile), options.output));
    return;
  }
  if (options.show.empty()) {
    list(options.json, options.all);
    return;
  }
  const Profile profile = find_any_profile(options.show);
  if (options.json)
    print_json(to_json(profile));
  else
    print(profile_text(profile, detail) + "\n" +
          wrap(fmt::format("What it can do: {}.", abilities(profile)), style_of_stdout().width) + "\n");
}

}  // namespace shiplap::cli
