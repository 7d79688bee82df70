#include <fmt/format.h>

#include <algorithm>

#include "experiments/werkhoven2014/ocean.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/plan/models.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap::experiments::werkhoven {
namespace {

using van_werkhoven_2014::Category;

std::vector<Choice> choices_of(const Bench& bench) {
  std::vector<std::uint64_t> grids = limited_grids(bench);
  grids.insert(grids.begin(), 0);
  constexpr auto any = Category::two_engines;
  std::vector<Choice> choices{ocean_choice(explicit_copy, any, 0)};
  for (const std::uint64_t blocks : grids) choices.push_back(ocean_choice(implicit, any, blocks));
  for (const Category category : ocean_categories(bench)) choices.push_back(ocean_choice(streams, category, 0));
  for (const std::uint64_t blocks : grids) choices.push_back(ocean_choice(hybrid, any, blocks));
  return choices;
}

/// Both readings of §VIII.
struct Estimates {
  std::optional<Seconds> throughout;
  std::optional<Seconds> while_both_move;
};

/// Eq 5 with G beside mapped writes by a kernel that fills the GPU, as the paper has it for Hybrid; eq 6 with G of one
/// direction, and with that of a kernel that reads and writes while it does both.
Estimates mapped_estimates(const Bench& bench, const Job& job, bool is_hybrid) {
  using namespace van_werkhoven_2014;
  const auto work = paper_parameters(job, is_hybrid ? streams_used : 1, bench.profile, false);
  if (!work) return {};
  const auto& mapped = bench.profile.links.front().zero_copy;
  const double in_flight = static_cast<double>(bench.limits.resident_threads) * job.access_width;
  if (!is_hybrid) {
    if (!mapped || mapped->both.empty()) return {.throughout = eq6(*work), .while_both_move = std::nullopt};
    const PerByte both = per_byte(rate_at(mapped->both, in_flight));
    return {.throughout = eq6(*work), .while_both_move = eq6(slowed_while_both_move(*work, {both, both}))};
  }
  if (!mapped || mapped->write_beside_h2d.empty()) return {};
  const auto launch = static_cast<double>(bytes_out(job).count) / streams_used;
  const UnderLoad loaded{per_byte(copy_rate_at(mapped->write_beside_h2d, launch, in_flight)),
                         per_byte(kernel_rate_at(mapped->write_beside_h2d, launch, in_flight))};
  return {.throughout = as_printed::hybrid_time(slowed_throughout(*work, loaded), streams_used),
          .while_both_move = as_printed::hybrid_time(slowed_while_both_move(*work, loaded), streams_used)};
}

/// The paper's estimates, for kernels with their own grid.
Estimates estimates_of(const Bench& bench, const Job& job, const Choice& choice, std::span<const ModelTime> models) {
  if (choice.blocks > 0) return {};
  if (choice.strategy == "hybrid" || choice.strategy == "implicit")
    return mapped_estimates(bench, job, choice.strategy == "hybrid");
  for (const std::string_view name : {"van-werkhoven-2014 as printed", "van-werkhoven-2014"})
    for (const ModelTime& m : models)
      if (m.model == name) return {.throughout = m.time, .while_both_move = std::nullopt};
  return {};
}

OceanRun observed_run(const Bench& bench, std::size_t kernel) {
  Workload workload = find_workload(ocean_kernels()[kernel].workload);
  OceanRun run{.kernel = kernel, .job = workload.job};
  const EvaluatedWorkload observed = observe(bench, std::move(workload), choices_of(bench));
  run.job.cost = observed.cost;
  for (const EvaluatedPoint& p : observed.points) {
    if (p.samples_ms.empty()) continue;
    const Estimates estimates = estimates_of(bench, run.job, p.choice, p.models);
    run.points.push_back({.choice = p.choice,
                          .time = milliseconds(median(p.samples_ms)),
                          .equation = estimates.throughout,
                          .while_both_move = estimates.while_both_move,
                          .engine = p.predicted.value});
  }
  for (const SkippedChoice& s : observed.skipped) run.refused[s.choice.strategy] = s.reason;
  if (!observed.not_run.empty()) run.refused["all"] = observed.not_run;
  return run;
}

/// Kernel time on a device where nothing is measured: derived, or what is assumed of the paper's machines.
KernelCost cost_of(const Job& job, const Profile& profile, std::size_t kernel) {
  try {
    return derived_cost(job, profile);
  } catch (const Unsupported&) {
    return {.points = {{job.items, Interval<Seconds>::exact(ocean_kernels()[kernel].assumed.front())}},
            .limited = std::nullopt,
            .origin = "assumed: memory at about 230 GB/s"};
  }
}

/// Times alone, at the published size: no bytes are moved.
OceanRun simulated_run(const Bench& bench, std::size_t kernel) {
  OceanRun run{.kernel = kernel, .job = find_workload(ocean_kernels()[kernel].workload).job};
  run.job.cost = cost_of(run.job, bench.profile, kernel);
  for (const Choice& choice : choices_of(bench)) {
    try {
      const Schedule schedule = find_strategy(choice.strategy).schedule(run.job, choice, bench.limits);
      Candidate candidate;
      candidate.choice = choice;
      candidate.timeline = simulate(schedule, bench.profile).timeline;
      candidate.predicted = Interval<Seconds>::exact(candidate.timeline.makespan);
      std::vector<ModelTime> models;
      for (const ModelPrediction& m : model_predictions(run.job, bench.profile, candidate))
        if (m.time) models.push_back({m.model, *m.time});
      const Estimates estimates = estimates_of(bench, run.job, choice, models);
      run.points.push_back({.choice = choice,
                            .time = candidate.predicted.value,
                            .equation = estimates.throughout,
                            .while_both_move = estimates.while_both_move,
                            .engine = std::nullopt});
    } catch (const Error& why) {
      // No figures for mapped memory, say. The equation may still have one.
      run.refused[choice.strategy] = why.what();
      if (choice.blocks > 0) continue;
      const auto equation = choice.strategy == "hybrid"
                                ? mapped_estimates(bench, run.job, true).throughout
                                : find_strategy(choice.strategy).predict(run.job, choice, bench.profile);
      if (equation) run.points.push_back({.choice = choice, .time = {}, .equation = equation, .engine = {}});
    }
  }
  return run;
}

}  // namespace

Choice ocean_choice(std::size_t implementation, Category category, std::uint64_t blocks) {
  Choice choice{.strategy = std::string(implementations[implementation]), .blocks = blocks};
  if (implementation == explicit_copy || implementation == implicit) return choice;
  choice.chunks = streams_used;
  choice.order = IssueOrder::breadth;
  // Hybrid copies one way only and has no results to hold: it is the same on every category.
  choice.layout = implementation == hybrid || category == Category::two_engines ? Layout::per_chunk
                  : category == Category::one_engine                            ? Layout::one_engine
                                                                                : Layout::implicit_sync;
  return choice;
}

std::vector<Category> ocean_categories(const Bench& bench) {
  std::vector<Category> all{Category::implicit_sync_one_engine};
  if (bench.profile.gpus.front().implicit_sync != ImplicitSync::none) return all;
  all.push_back(Category::one_engine);
  if (bench.info.copy_engines >= 2) all.push_back(Category::two_engines);
  return all;
}

std::vector<std::uint64_t> limited_grids(const Bench& bench) {
  // A few blocks keep the link busy; one in eight multiprocessors, and one in four.
  const std::uint64_t eighth = std::max(1u, bench.info.multiprocessors / 8);
  if (bench.quick && !bench.info.is_virtual) return {eighth};
  return {eighth, std::max<std::uint64_t>(eighth + 1, bench.info.multiprocessors / 4)};
}

std::vector<OceanRun> ocean_runs(const Bench& bench) {
  std::vector<OceanRun> runs;
  for (const std::size_t kernel : {state_one, state_three, buoydiff}) {
    if (kernel == state_three && bench.quick && !bench.info.is_virtual) continue;
    if (bench.progress) bench.progress(ocean_kernels()[kernel].name, kernel, ocean_kernels().size());
    runs.push_back(bench.info.is_virtual ? simulated_run(bench, kernel) : observed_run(bench, kernel));
  }
  return runs;
}

}  // namespace shiplap::experiments::werkhoven
