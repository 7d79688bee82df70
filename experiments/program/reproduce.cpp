#include "experiments/program/reproduce.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "cli/common.hpp"
#include "cli/files.hpp"
#include "cli/node.hpp"
#include "experiments/page.hpp"
#include "experiments/published_sweep/report.hpp"
#include "experiments/reproduction.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/file_lock.hpp"
#include "shiplap/core/file_system.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/report/page/page.hpp"
#include "shiplap/report/page/report.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::experiments {
namespace {

using cli::print;
using cli::print_json;
using cli::style_of_stdout;

void list_papers(document::Detail detail, bool json) {
  if (json) {
    Json papers = Json::array();
    for (const Experiment& e : experiments()) {
      Json steps = Json::array();
      for (const Step& step : e.steps) steps.push_back({{"id", step.id}, {"title", step.title}});
      papers.push_back({{"name", e.name}, {"title", e.title}, {"citation", e.citation}, {"steps", steps}});
    }
    return print_json({{"papers", papers}});
  }
  print("shiplap reproduce PAPER runs the experiments of a paper.\n\n");
  if (detail != document::Detail::all) {
    Table table{.columns = {{"paper", Align::left}, {"what", Align::left}}};
    for (const Experiment& e : experiments()) table.add({std::string(e.name), std::string(e.title)});
    print(table.text(style_of_stdout()) + "\n--all shows the steps of each, which --only takes.\n");
    return;
  }
  Table table{.columns = {{"paper", Align::left}, {"step", Align::left}, {"what", Align::left}}};
  for (const Experiment& e : experiments()) {
    table.add({std::string(e.name), "", std::string(e.title)});
    for (const Step& step : e.steps) table.add({"", std::string(step.id), std::string(step.title)});
  }
  print(table.text(style_of_stdout()));
}

/// The curves and claims as a page of HTML, made from the text of PAPER.json as `shiplap report` makes it.
std::string html_page(const Experiment& experiment, const std::string& json) {
  const page::ReportFile file{.name = std::string(experiment.name) + ".json", .text = json};
  return page::html(page::report({&file, 1}, {.title = std::string(experiment.title), .map = std::nullopt}));
}

/// Writes PAPER.json, PAPER.md, PAPER.html if this build draws pages, and a CSV for each figure. Each file is replaced
/// atomically. Of steps that this process has not run, the folder may have what another process wrote meanwhile; `r`
/// has it afterwards.
void save(const std::filesystem::path& folder, const Experiment& experiment, const std::set<std::string_view>& ran,
          Reproduction& r) {
  const std::string name(experiment.name);
  make_folders(folder / name);
  const std::filesystem::path kept = folder / (name + ".json");
  const FileLock lock(kept.string());
  if (is_there(kept)) {
    Reproduction there = load_reproduction(kept);
    require_same(there, r, kept);
    for (auto& [id, step] : there.steps)
      if (!ran.contains(id)) r.steps.insert_or_assign(id, std::move(step));
  }
  for (const auto& [id, done] : r.steps)
    for (const Figure& figure : done.result.figures)
      write_file_atomically(folder / name / (figure.id + ".csv"), csv(figure));
  const ReproductionView view = reproduction_view(experiment, r);
  write_file_atomically(folder / (name + ".md"), page(experiment, view));
  const std::string json = json_text(to_json(view), 1) + "\n";
  if (page::has_plots()) write_file_atomically(folder / (name + ".html"), html_page(experiment, json));
  write_document(kept, json);
}

/// The file that -o gives the evaluation of --data.
std::filesystem::path file_of_data(const ReproduceFlags& flags) {
  return std::filesystem::path(flags.output) / std::filesystem::path(flags.data).filename().replace_extension(".json");
}

/// What -o writes. A path that ends with '/' is a folder with all that is in it.
std::vector<std::filesystem::path> files_written(const ReproduceFlags& flags) {
  if (!flags.data.empty()) return {file_of_data(flags)};
  const std::filesystem::path folder = flags.output;
  return {folder / (flags.paper + ".json"), folder / (flags.paper + ".md"), folder / (flags.paper + ".html"),
          folder / flags.paper / ""};
}

void run_published_sweep(const ReproduceFlags& flags) {
  const std::filesystem::path file = file_of_data(flags);
  const published_sweep::PublishedData sweep = published_sweep::load_published(flags.data);
  if (!flags.output.empty()) {
    make_folders(flags.output);
    cli::require_writable(file, "-o");
  }
  const published_sweep::PublishedEvaluation evaluation = published_sweep::evaluate_published(sweep);
  const Json json = published_sweep::to_json(evaluation);
  if (!flags.output.empty()) write_document(file, json_text(json, 1) + "\n");
  if (flags.json) return print_json(json);
  print(published_sweep::published_report(evaluation, style_of_stdout()));
  if (!flags.output.empty()) print(fmt::format("\nwritten to {}\n", file.string()));
}

}  // namespace

void add_reproduce(CLI::App& app) {
  auto flags = std::make_shared<ReproduceFlags>();
  auto* data =
      cli::declare_file(app.add_option("--data", flags->data,
                                       "instead of a paper: a published sweep (calls, size, streams, time) that is "
                                       "fitted in part; the rest is predicted"),
                        cli::FileUse::read)
          ->type_name("FILE");
  app.add_option("PAPER", flags->paper,
                 "werkhoven2014, gomezluna2012, harris2012, eth2025 or commscope2019 (without one: a list of "
                 "them and their steps)")
      ->excludes(data);
  cli::add_device_flag(app, flags->device);
  cli::add_profile_flag(app, flags->profile, "predict from this profile (default: the device's own)");
  app.add_flag("--quick", flags->quick, "fewer points and repeats");
  app.add_option("--only", flags->only, "these steps alone, done before or not")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->type_name("STEPS");
  app.add_option("--budget", flags->budget,
                 "begin no further step after this time, as in 300s; the same command goes on where it stopped")
      ->type_name("TIME");
  cli::declare_file(
      app.add_option(
          "-o,--output", flags->output,
          "write PAPER.json, PAPER.md, PAPER.html and PAPER/*.csv into this folder after each step; what is done there "
          "already is not done again; of --data FILE write FILE's name with .json into it"),
      cli::FileUse::update, [flags](const std::string&) { return files_written(*flags); })
      ->type_name("DIR");
  cli::add_json_flag(app, flags->json);
  cli::add_all_flag(
      app, flags->all,
      "show what is published of each claim, and what was found here; without a paper, the steps of each");
  app.footer(
      "The profile is fixed first and its hash noted. Every result is verified. A claim that does not hold on this "
      "hardware is a result, not a failure.");
  for (const char* about_a_paper : {"--device", "--profile", "--quick", "--only", "--budget", "--all"})
    data->excludes(app.get_option(about_a_paper));
  app.callback([flags] { run_reproduce(*flags); });
}

void run_reproduce(const ReproduceFlags& flags) {
  if (!flags.data.empty()) return run_published_sweep(flags);
  if (flags.paper.empty()) return list_papers(cli::detail_of(flags.all, flags.json), flags.json);
  const Experiment& experiment = find_experiment(flags.paper);
  RunLimits limits{.only = flags.only};
  if (!flags.budget.empty()) limits.budget = parse_seconds(flags.budget, "--budget");
  require_steps(experiment, flags.only);
  const cli::OpenedNode opened = cli::open_node({.device = flags.device, .profile = flags.profile, .scale = {}});
  Progress progress;
  const Bench bench{.device = *opened.device,
                    .info = opened.device->info(),
                    .profile = *opened.node.profile,
                    .limits = opened.node.limits,
                    .quick = flags.quick,
                    .progress = [&](std::string_view what, std::size_t done, std::size_t total) {
                      progress.update(what, done, total);
                    }};
  Reproduction reproduction = begin_reproduction(experiment, bench);
  const std::filesystem::path folder = flags.output;
  const std::filesystem::path kept = folder / (std::string(experiment.name) + ".json");
  if (!flags.output.empty()) {
    make_folders(folder);
    cli::require_writable(kept, "-o");
  }
  if (!flags.output.empty() && is_there(kept)) {
    Reproduction before = load_reproduction(kept);
    require_same(before, reproduction, kept);
    reproduction = std::move(before);  // keeps the profile and the conditions of the earlier steps
  }
  std::set<std::string_view> ran;
  const bool whole = run_steps(experiment, bench, limits, reproduction, [&](Reproduction& so_far, const Step& done) {
    ran.insert(done.id);
    if (!flags.output.empty()) save(folder, experiment, ran, so_far);
  });
  if (!flags.output.empty()) save(folder, experiment, ran, reproduction);
  progress.clear();
  const ReproductionView view = reproduction_view(experiment, reproduction);
  const document::Detail detail = cli::detail_of(flags.all, flags.json);
  if (flags.json) return print_json(to_json(view));
  const TextStyle style = style_of_stdout();
  print(document::text(document::reproduction_section(view), style, detail));
  if (!flags.all) print("\n--all shows what is published of each claim, and what was found here.\n");
  if (!whole)
    print("\n" +
          wrap(fmt::format("{} of {} steps are done; {}", view.steps.size(), experiment.steps.size(),
                           flags.output.empty() ? "with -o DIR they are kept, and can be gone on with"
                           : flags.only.empty() ? "the same command goes on from there"
                                                : "without --only the command goes on from there"),
               style.width) +
          "\n");
  if (!flags.output.empty()) print(fmt::format("\nwritten to {}\n", (folder / (flags.paper + ".md")).string()));
}

}  // namespace shiplap::experiments
