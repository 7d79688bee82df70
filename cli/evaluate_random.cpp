#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/common.hpp"
#include "cli/effects.hpp"
#include "cli/evaluate.hpp"
#include "cli/node.hpp"
#include "cli/resume.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/evaluate/random_jobs.hpp"
#include "shiplap/evaluate/regret.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/regret_report.hpp"

namespace shiplap::cli {
namespace {

/// The jobs that an interrupted evaluation has run, from the file of -o; none without --resume.
std::vector<JobRegret> evaluated_before(const EvaluateFlags& flags, const std::string& command, const Node& node) {
  if (!can_resume(flags)) return {};
  RecordedRegrets before = recorded_regrets_from_json(read_json_file(flags.output), flags.output);
  require_same_run(flags.output, {before.command, before.conditions}, {command, node.device->info().conditions});
  require_same_profile(flags.output, before.profile_hash, parameter_hash(*node.profile));
  std::erase_if(before.jobs, [](const JobRegret& job) { return !job.not_run.empty(); });
  note(fmt::format("going on with {}; jobs evaluated before: {}", flags.output, before.jobs.size()));
  return before.jobs;
}

}  // namespace

void evaluate_random(const EvaluateFlags& flags) {
  if (flags.all) note_without_effect("--all", "the table of random jobs has every job");
  if (!flags.csv.empty()) throw UsageError("--csv: --random has a page and JSON; give --markdown or -o");
  if (!flags.sizes.empty() || !flags.strategies.empty() || !flags.chunks.empty() || !flags.layouts.empty() ||
      !flags.max_grids.empty() || !flags.threads.empty() || flags.transfers_only || flags.no_transfers ||
      flags.memory != EvaluateFlags{}.memory)
    throw UsageError(
        "--random draws the sizes and sweeps the whole grid of pinned arrays; leave out options for sizes, memory, "
        "transfers and the grid");
  const auto began = std::chrono::steady_clock::now();
  const Seconds budget = budget_of(flags);
  const OpenedNode opened =
      open_node({.device = device_to_measure(flags.device), .profile = flags.profile, .scale = {}});
  const Node& node = opened.node;
  RegretOptions options;
  if (flags.rounds > 0) options.rounds = flags.rounds;
  if (flags.duel_rounds > 0) options.final_rounds = flags.duel_rounds;
  if (!flags.race.empty()) options.race = parse_seconds(flags.race, "--race");
  Progress progress;
  std::vector<JobRegret> jobs;
  options.progress = [&](std::string_view what) { progress.update(what, jobs.size() + 1, flags.random); };
  const std::string command = command_of(flags, node.device->info().id);
  const std::vector<JobRegret> before = evaluated_before(flags, command, node);
  const auto find_before = [&](const std::string& name) { return std::ranges::find(before, name, &JobRegret::name); };
  const auto keep = [&] {
    std::vector<JobRegret> all = jobs;
    for (const JobRegret& job : before)
      if (std::ranges::find(jobs, job.name, &JobRegret::name) == jobs.end()) all.push_back(job);
    if (!flags.output.empty()) write_document(flags.output, json_text(to_json(all, node, flags.seed, command)) + "\n");
    if (!flags.markdown.empty()) write_file_atomically(flags.markdown, regret_markdown(all));
  };
  for (const std::string& name : random_workloads(flags.random, flags.seed)) {
    Workload workload = find_workload(name);
    if (const auto done = find_before(workload.job.name); done != before.end()) {
      jobs.push_back(*done);
      continue;
    }
    if (Seconds{std::chrono::steady_clock::now() - began} > budget) {
      jobs.push_back({.name = workload.job.name, .not_run = "the time of --budget was spent"});
      continue;
    }
    give_derived_cost(node, workload);
    jobs.push_back(regret_of(node, std::move(workload), options));
    keep();
  }
  keep();
  progress.clear();
  if (flags.json)
    print_json(to_json(jobs, node, flags.seed, command));
  else
    print(regret_report(jobs, style_of_stdout()));
  show_simulation(opened, {.device = flags.device, .profile = {}, .scale = {}}, flags.json);
  for (const JobRegret& job : jobs)
    if (!job.wrong.empty()) throw CheckFailed(fmt::format("{}: the result is wrong: {}", job.name, job.wrong));
}

}  // namespace shiplap::cli
