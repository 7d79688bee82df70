#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "experiments/werkhoven2014/ocean.hpp"
#include "experiments/werkhoven2014/tables.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap::experiments::werkhoven {
namespace {

using van_werkhoven_2014::Category;

/// The paper's variants of all implementations, variants with other grids, and Streams and Hybrid with three streams.
std::vector<Choice> choices_of(const Bench& bench) {
  std::vector<std::uint64_t> grids = limited_grids(bench);
  grids.insert(grids.begin(), 0);
  constexpr auto any = Category::two_engines;
  std::vector<Choice> choices{ocean_choice(explicit_copy, any, 0)};
  for (const std::uint64_t blocks : grids) choices.push_back(ocean_choice(implicit, any, blocks));
  for (const Category category : ocean_categories(bench)) {
    choices.push_back(ocean_choice(streams, category, 0));
    if (category == Category::two_engines) choices.push_back(streams_in_three_streams());
  }
  for (const std::uint64_t blocks : grids) {
    choices.push_back(ocean_choice(hybrid, any, blocks));
    choices.push_back(hybrid_in_three_streams(blocks));
  }
  return choices;
}

/// Hybrid with other numbers of chunks, with a stream each and with three streams.
std::vector<Choice> sweep_of(const Bench& bench) {
  std::vector<std::uint64_t> grids = limited_grids(bench);
  grids.insert(grids.begin(), 0);
  std::vector<Choice> choices;
  for (const std::uint32_t chunks : other_streams(bench))
    for (const std::uint64_t blocks : grids) {
      choices.push_back(ocean_choice(hybrid, Category::two_engines, blocks, chunks));
      choices.push_back(hybrid_in_three_streams(blocks, chunks));
    }
  return choices;
}

/// Estimates by both readings of §VIII.
struct Estimates {
  std::optional<Seconds> throughout;
  std::optional<Seconds> while_both_move;
};

/// The paper's estimates for its own variants: Hybrid by eq 5 with Table II, Implicit by eq 6 with G of one direction.
/// The other reading uses the profile's rates concurrent with a kernel that fills the GPU and accesses host memory, and
/// for eq 6 those of a kernel that reads and writes at once.
Estimates estimates_of(const Bench& bench, const PaperLink& link, const Job& job, const Choice& choice) {
  using namespace van_werkhoven_2014;
  const bool other_hybrid = choice.chunks != streams_used || choice.layout == Layout::three;
  if (choice.max_grid > 0 || (choice.strategy == "hybrid" && other_hybrid)) return {};
  if (choice.strategy == "explicit") return {.throughout = explicit_time(work_of(link, job, 1)), .while_both_move = {}};
  const auto& mapped = bench.profile.links.front().zero_copy;
  constexpr double access = 16;  // bytes in flight per thread
  const double in_flight = static_cast<double>(bench.limits.resident_threads) * access;
  if (choice.strategy == "implicit") {
    const Work work = work_of(link, job, 1);
    if (!mapped || mapped->both.empty()) return {.throughout = eq6(work), .while_both_move = std::nullopt};
    const PerByte both = per_byte(rate_at(mapped->both, in_flight));
    return {.throughout = eq6(work), .while_both_move = eq6(slowed_while_both_move(work, {both, both}))};
  }
  const Work work = work_of(link, job, choice.chunks);
  if (choice.strategy == "streams") {
    const auto category = paper_category(bench.profile.gpus.front(), choice);
    if (!category) return {};
    const bool loaded = *category == Category::two_engines && link.copies;
    return {.throughout = as_printed::streams_time(loaded ? slowed_throughout(work, *link.copies) : work, choice.chunks,
                                                   *category),
            .while_both_move = std::nullopt};
  }
  if (!link.mapped || !mapped || mapped->write_beside_h2d.empty()) return {};
  const UnderLoad running{per_byte(copy_rate_at(mapped->write_beside_h2d, in_flight)),
                          per_byte(kernel_rate_at(mapped->write_beside_h2d, in_flight))};
  return {.throughout = as_printed::hybrid_time(slowed_throughout(work, *link.mapped), choice.chunks),
          .while_both_move = as_printed::hybrid_time(slowed_while_both_move(work, running), choice.chunks)};
}

/// The best variant of Hybrid by a few rounds, which then takes part in the main run. The measured kernel cost is
/// returned for that run.
std::optional<Choice> best_of_sweep(const Bench& bench, std::size_t kernel, KernelCost& cost) {
  constexpr unsigned few = 3;
  const std::vector<Choice> sweep = sweep_of(bench);
  if (sweep.empty()) return std::nullopt;
  const EvaluatedWorkload tried = observe(bench, find_workload(ocean_kernels()[kernel].workload), sweep, few);
  cost = tried.cost;
  std::optional<Choice> best;
  for (const Choice& choice : sweep) {
    const auto time = time_of(tried, choice);
    if (time && (!best || *time < *time_of(tried, *best))) best = choice;
  }
  return best;
}

OceanRun observed_run(const Bench& bench, const PaperLink& link, std::size_t kernel) {
  Workload workload = find_workload(ocean_kernels()[kernel].workload);
  OceanRun run{.kernel = kernel, .job = workload.job};
  std::vector<Choice> choices = choices_of(bench);
  if (const auto best = best_of_sweep(bench, kernel, workload.job.cost)) choices.push_back(*best);
  const EvaluatedWorkload observed = observe(bench, std::move(workload), choices);
  run.job.cost = observed.cost;
  for (const EvaluatedPoint& p : observed.points) {
    if (p.samples_ms.empty()) continue;
    const Estimates estimates = estimates_of(bench, link, run.job, p.choice);
    run.points.push_back({.choice = p.choice,
                          .time = milliseconds(median(p.samples_ms)),
                          .equation = estimates.throughout,
                          .while_both_move = estimates.while_both_move,
                          .simulated = p.predicted.value});
  }
  for (const SkippedChoice& s : observed.skipped) run.refused[s.choice.strategy] = s.reason;
  if (!observed.not_run.empty()) run.refused["all"] = observed.not_run;
  return run;
}

/// Kernel cost without a measurement: derived from the profile, or assumed for the paper's machines.
KernelCost cost_of(const Job& job, const Profile& profile, std::size_t kernel) {
  try {
    return derived_cost(job, profile);
  } catch (const Unsupported&) {
    return {.points = {{job.items, Interval<Seconds>::exact(ocean_kernels()[kernel].assumed.front())}},
            .limited = {},
            .origin = "assumed: memory at about 230 GB/s"};
  }
}

/// Simulated times at the published size, without moving bytes.
OceanRun simulated_run(const Bench& bench, const PaperLink& link, std::size_t kernel) {
  OceanRun run{.kernel = kernel, .job = find_workload(ocean_kernels()[kernel].workload).job};
  run.job.cost = cost_of(run.job, bench.profile, kernel);
  std::vector<Choice> choices = choices_of(bench);
  std::ranges::copy(sweep_of(bench), std::back_inserter(choices));
  for (const Choice& choice : choices) {
    const Estimates estimates = estimates_of(bench, link, run.job, choice);
    try {
      const Schedule schedule = find_strategy(choice.strategy).schedule(run.job, choice, bench.limits);
      run.points.push_back({.choice = choice,
                            .time = simulate(schedule, bench.profile).timeline.makespan,
                            .equation = estimates.throughout,
                            .while_both_move = estimates.while_both_move,
                            .simulated = std::nullopt});
    } catch (const Error& why) {
      // The profile may lack figures, as for mapped memory. The equation may still have a time.
      run.refused[choice.strategy] = why.what();
      if (estimates.throughout)
        run.points.push_back({.choice = choice, .time = {}, .equation = estimates.throughout, .simulated = {}});
    }
  }
  return run;
}

}  // namespace

Choice ocean_choice(std::size_t implementation, Category category, std::uint64_t blocks, std::uint32_t chunks) {
  Choice choice{.strategy = std::string(implementations[implementation]), .max_grid = blocks};
  if (implementation == explicit_copy || implementation == implicit) return choice;
  choice.chunks = chunks;
  choice.order = IssueOrder::breadth;
  // Hybrid copies in one direction only, so no copy waits for another one and the category makes no difference.
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
  // A few blocks keep the link busy: one for every eight SMs, and one for every four.
  const std::uint64_t eighth = std::max(1u, bench.info.sm_count / 8);
  if (bench.quick && !bench.info.is_virtual) return {eighth};
  return {eighth, std::max<std::uint64_t>(eighth + 1, bench.info.sm_count / 4)};
}

Choice streams_in_three_streams() {
  Choice choice = ocean_choice(streams, Category::two_engines, 0);
  choice.layout = Layout::three;
  return choice;
}

Choice hybrid_in_three_streams(std::uint64_t blocks, std::uint32_t chunks) {
  Choice choice = ocean_choice(hybrid, Category::two_engines, blocks, chunks);
  choice.layout = Layout::three;
  choice.order = IssueOrder::depth;
  return choice;
}

std::vector<std::uint32_t> other_streams(const Bench& bench) {
  if (bench.quick) return {};
  return {7, 14, 21};
}

std::vector<OceanRun> ocean_runs(const Bench& bench) {
  const PaperLink link = paper_link(bench);
  std::vector<OceanRun> runs;
  for (const std::size_t kernel : {state_one, state_three, buoydiff}) {
    if (kernel == state_three && bench.quick && !bench.info.is_virtual) continue;
    if (bench.progress) bench.progress(ocean_kernels()[kernel].name, kernel, ocean_kernels().size());
    runs.push_back(bench.info.is_virtual ? simulated_run(bench, link, kernel) : observed_run(bench, link, kernel));
  }
  return runs;
}

}  // namespace shiplap::experiments::werkhoven
