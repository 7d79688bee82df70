#include "cli/reproduce.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/common.hpp"
#include "cli/node.hpp"
#include "experiments/page.hpp"
#include "experiments/reproduction.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/report/progress.hpp"

namespace shiplap::cli {
namespace {

using experiments::Experiment;
using experiments::Reproduction;

void list_papers(bool json) {
  if (json) {
    Json papers = Json::array();
    for (const Experiment& e : experiments::experiments()) {
      Json steps = Json::array();
      for (const experiments::Step& step : e.steps) steps.push_back({{"id", step.id}, {"title", step.title}});
      papers.push_back({{"name", e.name}, {"title", e.title}, {"citation", e.citation}, {"steps", steps}});
    }
    return print_json({{"papers", papers}});
  }
  Table table({{"paper"}, {"step"}, {"what", Align::left}});
  for (const Experiment& e : experiments::experiments()) {
    table.add({std::string(e.name), "", std::string(e.title)});
    for (const experiments::Step& step : e.steps) table.add({"", std::string(step.id), std::string(step.title)});
  }
  print(table.text(style_of_stdout()));
}

/// PAPER.json, PAPER.md and a CSV for each figure: each file whole or as it was.
void save(const std::filesystem::path& folder, const Experiment& experiment, const Reproduction& r) {
  const std::string name(experiment.name);
  std::filesystem::create_directories(folder / name);
  for (const auto& [id, done] : r.steps)
    for (const experiments::Figure& figure : done.result.figures)
      write_file_atomically(folder / name / (figure.id + ".csv"), experiments::csv(figure));
  write_file_atomically(folder / (name + ".md"), experiments::page(experiment, r));
  write_file_atomically(folder / (name + ".json"), experiments::to_json(experiment, r).dump(1) + "\n");
}

}  // namespace

void add_reproduce(CLI::App& app) {
  auto flags = std::make_shared<ReproduceFlags>();
  auto* command =
      app.add_subcommand("reproduce", "Run the experiments of a paper and say which of its claims hold here");
  command->add_option("PAPER", flags->paper,
                      "werkhoven2014, gomezluna2012, harris2012, eth2025 or commscope2019 (without one: a list of "
                      "them and their steps)");
  add_device_flag(*command, flags->device);
  command->add_option("--profile", flags->profile, "predict from this profile (default: the device's own)")
      ->type_name("P");
  command->add_flag("--quick", flags->quick, "fewer points and repeats");
  command->add_option("--only", flags->only, "these steps alone, done before or not")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->type_name("STEPS");
  command
      ->add_option("--budget", flags->budget,
                   "begin no further step after this time, as in 300s; the same command goes on where it stopped")
      ->type_name("TIME");
  command
      ->add_option("-o,--output", flags->output,
                   "write PAPER.json, PAPER.md and PAPER/*.csv into this folder after each step; what is done there "
                   "already is not done again")
      ->type_name("DIR");
  add_json_flag(*command, flags->json);
  command->footer(
      "The profile is fixed first and its hash noted. Every result is verified. A claim that does not hold on this "
      "hardware is a result, not a failure.");
  command->callback([flags] { run_reproduce(*flags); });
}

void run_reproduce(const ReproduceFlags& flags) {
  if (flags.paper.empty()) return list_papers(flags.json);
  const Experiment& experiment = experiments::find_experiment(flags.paper);
  experiments::RunLimits limits{.only = flags.only};
  if (!flags.budget.empty()) limits.budget = parse_seconds(flags.budget, "--budget");
  experiments::require_steps(experiment, flags.only);
  const OpenedNode opened = open_node({.device = flags.device, .profile = flags.profile, .scale = {}});
  Progress progress;
  const experiments::Bench bench{.device = *opened.device,
                                 .info = opened.device->info(),
                                 .profile = opened.node.profile,
                                 .limits = opened.node.limits,
                                 .quick = flags.quick,
                                 .progress = [&](std::string_view what, std::size_t done, std::size_t total) {
                                   progress.update(what, done, total);
                                 }};
  Reproduction reproduction = experiments::begin_reproduction(experiment, bench);
  const std::filesystem::path folder = flags.output;
  const std::filesystem::path kept = folder / (std::string(experiment.name) + ".json");
  if (!flags.output.empty() && std::filesystem::exists(kept)) {
    Reproduction before = experiments::load_reproduction(kept);
    experiments::require_same(before, reproduction, kept);
    reproduction = std::move(before);  // with the conditions that its steps ran under
  }
  const bool whole = experiments::run_steps(experiment, bench, limits, reproduction, [&](const Reproduction& so_far) {
    if (!flags.output.empty()) save(folder, experiment, so_far);
  });
  if (!flags.output.empty()) save(folder, experiment, reproduction);
  progress.clear();
  const TextStyle style = style_of_stdout();
  if (flags.json) return print_json(experiments::to_json(experiment, reproduction));
  print(bold(std::string(experiment.title), style) + "\n\n");
  print(experiments::claims_report(experiment, reproduction, style.width));
  const auto done = std::ranges::count_if(
      experiment.steps, [&](const experiments::Step& step) { return reproduction.steps.contains(step.id); });
  if (!whole)
    print(wrap(fmt::format("\n{} of {} steps are done; {}", done, experiment.steps.size(),
                           flags.output.empty() ? "with -o DIR they are kept, and can be gone on with"
                           : flags.only.empty() ? "the same command goes on from there"
                                                : "without --only the command goes on from there"),
               style.width) +
          "\n");
  if (!flags.output.empty()) print(fmt::format("\nwritten to {}\n", (folder / (flags.paper + ".md")).string()));
}

}  // namespace shiplap::cli
