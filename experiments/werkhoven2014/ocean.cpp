// Figs 8-10: observed times of the ocean kernels as Explicit, Implicit, Streams and Hybrid, beside the paper's
// estimates.
#include "experiments/werkhoven2014/ocean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/cells.hpp"
#include "experiments/werkhoven2014/steps.hpp"
#include "experiments/werkhoven2014/tables.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap::experiments::werkhoven {
namespace {

using van_werkhoven_2014::Category;

constexpr std::array<std::string_view, 5> error_claims{"error-explicit", "error-implicit", "error-streams",
                                                       "error-hybrid", "hardest"};

const OceanPoint* point(const OceanRun& run, const Choice& choice) {
  const auto found = std::ranges::find(run.points, choice, &OceanPoint::choice);
  return found == run.points.end() ? nullptr : &*found;
}

OceanTimes times_of(const OceanRun& run, Category category) {
  OceanTimes t{.kernel = run.kernel, .category = category};
  for (std::size_t i = 0; i < implementations.size(); ++i) {
    if (const OceanPoint* own = point(run, ocean_choice(i, category, 0))) {
      t.observed[i] = own->time;
      t.equation[i] = own->equation;
      t.while_both_move[i] = own->while_both_move;
      t.simulated[i] = own->simulated;
    }
    if (i != implicit && i != hybrid) continue;
    const Choice paper = ocean_choice(i, category, 0);
    for (const OceanPoint& other : run.points) {
      if (other.choice.strategy != paper.strategy || other.choice == paper || !other.time) continue;
      if (t.tuned[i] && *t.tuned[i] <= *other.time) continue;
      t.tuned[i] = other.time;
      const std::string grid =
          other.choice.max_grid == 0 ? std::string("its own grid") : fmt::format("{} blocks", other.choice.max_grid);
      const std::string streams = other.choice.layout == Layout::three ? ", three streams" : "";
      t.tuned_as[i] = i == hybrid ? fmt::format("{} chunks, {}{}", other.choice.chunks, grid, streams) : grid;
    }
  }
  if (category == Category::two_engines)
    if (const OceanPoint* three = point(run, streams_in_three_streams())) t.three_streams = three->time;
  return t;
}

std::string words_of(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ", numbers[i]);
  return text;
}

Cell error_cell(const std::optional<Seconds>& predicted, const std::optional<Seconds>& observed) {
  if (!predicted || !observed) return std::monostate{};
  return 100 * (*predicted / *observed - 1);
}

std::string note_of(const Bench& bench, const Machine& machine, std::span<const OceanRun> runs, bool first) {
  std::string note = fmt::format(
      "1024 x 1024 x 42 doubles, 42 streams, pinned memory, streams submitted to breadth-first. {} "
      "stands for category {}: {}. ",
      bench.info.name, static_cast<int>(machine.category),
      machine.category == Category::two_engines
          ? "two copy engines, a stream for each stream as in the paper's programs; beside it three streams for copies "
            "in, kernels and copies out, which is not judged"
      : machine.category == Category::one_engine ? "copies of both directions in one stream"
                                                 : "copies of both directions in one stream, results held "
                                                   "until the last kernel has ended");
  note += bench.info.is_virtual ? "**Simulated at the published size**; no bytes were moved. "
                                : "Medians; every result was compared with the host's. ";
  if (!first) return note + "The rest as in the figure before.";
  const auto others = other_streams(bench);
  note += fmt::format(
      "Other grids: 1/8 and 1/4 as many blocks as SMs (quick: 1/8); Hybrid with each grid in three streams "
      "too, depth-first{}. Estimates: "
      "explicit by eq 5 at n = 1, implicit by eq 6 with the payload (this kernel reads each level about once), streams "
      "by the equation that t_E > T_hd selects, hybrid by eq 5 with Table II for all of the transfer, of a kernel that "
      "fills the GPU with mapped writes; t_E of streams and hybrid is the sum over the kernels of 42 chunks. {} Beside "
      "them the other reading of §VIII, with mapped accesses slower only while both directions move, at the profile's "
      "rates while a kernel runs. Published bars are a picture without numbers in our copy; what was fastest is from "
      "the text.",
      others.empty()
          ? std::string()
          : fmt::format(
                ", and both also in {} chunks{}", words_of(others),
                bench.info.is_virtual ? "" : ", of which the best is measured again alternately with all others"),
      paper_link(bench).origin);
  std::set<std::string> told;
  for (const OceanRun& run : runs) {
    const std::string_view kernel = ocean_kernels()[run.kernel].name;
    if (!run.job.cost.points.empty())
      note += fmt::format(" Kernel time of {}: {} ({}).", kernel, to_string(run.job.cost.launch_time(run.job.items)),
                          run.job.cost.origin);
    for (const auto& [strategy, reason] : run.refused)
      if (told.insert(strategy + reason).second) note += fmt::format(" {} without {}: {}.", kernel, strategy, reason);
  }
  return note;
}

Figure figure_of(const Bench& bench, const Machine& machine, std::span<const OceanRun> runs,
                 std::span<const OceanTimes> all, bool first) {
  const std::string seen = bench.info.is_virtual ? "simulated" : std::string(here);
  Figure f{.id = std::string(machine.id),
           .where = std::string(machine.figure),
           .title = fmt::format("state and buoydiff on a device of the {}'s category", machine.gpu),
           .columns = {{"kernel", ""},
                       {"implementation", ""},
                       {seen, "ms"},
                       {"best with other grids or streams", "ms"},
                       {"which is", ""},
                       {"paper's estimate", "ms"},
                       {"error of the estimate", "%"},
                       {"estimate, slower while both move", "ms"},
                       {"error of that", "%"}},
           .rows = {},
           .note = note_of(bench, machine, runs, first)};
  // The times of a virtual device are the simulated times, so the comparison is only for a GPU.
  if (!bench.info.is_virtual) {
    f.columns.push_back({"simulation", "ms"});
    f.columns.push_back({"error of the simulation", "%"});
  }
  f.columns.push_back({"fastest " + seen, ""});
  f.columns.push_back({"fastest published", ""});
  for (const OceanTimes& t : all) {
    if (t.category != machine.category) continue;
    for (std::size_t i = 0; i < implementations.size(); ++i) {
      auto& row = f.rows.emplace_back();
      row = {std::string(ocean_kernels()[t.kernel].name),
             std::string(implementations[i]),
             ms(t.observed[i]),
             ms(t.tuned[i]),
             t.tuned_as[i].empty() ? Cell() : Cell(t.tuned_as[i]),
             ms(t.equation[i]),
             error_cell(t.equation[i], t.observed[i]),
             ms(t.while_both_move[i]),
             error_cell(t.while_both_move[i], t.observed[i])};
      if (!bench.info.is_virtual) {
        row.push_back(ms(t.simulated[i]));
        row.push_back(error_cell(t.simulated[i], t.observed[i]));
      }
      const bool published = i == (t.kernel == buoydiff ? machine.fastest_buoydiff : implicit);
      row.push_back(is_fastest(t.observed, i) ? Cell("yes") : Cell());
      row.push_back(published ? Cell("yes") : Cell());
    }
    if (!t.three_streams) continue;
    auto& row = f.rows.emplace_back();
    row.assign(f.columns.size(), Cell{});
    row[0] = std::string(ocean_kernels()[t.kernel].name);
    row[1] = fmt::format("{} in three streams", implementations[streams]);
    row[2] = ms(t.three_streams);
    row[5] = ms(t.equation[streams]);
    row[6] = error_cell(t.equation[streams], t.three_streams);
  }
  return f;
}

/// The bound of §III beside the fastest observed time of each kernel for which all four implementations ran.
std::vector<OverlapBound> bounds_of(const Bench& bench, std::span<const OceanRun> runs,
                                    std::span<const OceanTimes> all) {
  std::vector<OverlapBound> bounds;
  const LinkModel& link = bench.profile.links.front();
  for (const OceanRun& run : runs) {
    std::optional<Seconds> best;
    for (const OceanTimes& t : all) {
      if (t.kernel != run.kernel || !fastest(t.observed)) continue;
      for (const auto* times : {&t.observed, &t.tuned})
        for (const auto& time : *times)
          if (time && (!best || *time < *best)) best = time;
      if (t.three_streams && (!best || *t.three_streams < *best)) best = t.three_streams;
    }
    if (!best) continue;
    const OceanKernel& kernel = ocean_kernels()[run.kernel];
    const Seconds time = run.job.cost.launch_time(run.job.items);
    const Seconds in = kernel.in * link.h2d.per_byte.value;
    const Seconds out = kernel.out * link.d2h.per_byte.value;
    bounds.push_back({.kernel = kernel.name,
                      .best = *best,
                      .printed = std::max(time, (kernel.in + kernel.out) * link.h2d.per_byte.value),
                      .corrected = std::max({time, in, out})});
  }
  return bounds;
}

/// A figure of small runs of the same programs with their bytes on a virtual device, verified.
Figure reduced_figure(const Bench& bench) {
  Figure f{
      .id = "reduced",
      .where = "§VII",
      .title = "the same schedules with their bytes, 64 x 64 x 42 doubles",
      .columns = {{"kernel", ""},
                  {"implementation", ""},
                  {"streams", ""},
                  {"layout", ""},
                  {"simulated", "ms"},
                  {"results", ""}},
      .rows = {},
      .note = "Every byte was moved and every result compared with the host's. Times are those of the simulation."};
  for (const auto& [name, kernel] : {std::pair{"pop-state:nx=64,ny=64,nz=42,outputs=1", state_one},
                                     {"pop-state:nx=64,ny=64,nz=42,outputs=3", state_three},
                                     {"pop-buoydiff:nx=64,ny=64,nz=42", buoydiff}}) {
    Workload workload = find_workload(name);
    try {
      workload.job.cost = derived_cost(workload.job, bench.profile);
    } catch (const Unsupported&) {
      const Seconds whole = ocean_kernels()[kernel].assumed.front();
      workload.job.cost.points = {{workload.job.items, Interval<Seconds>::exact(whole / 256.0)}};
      workload.job.cost.origin = "assumed";
    }
    std::vector<Choice> choices{ocean_choice(explicit_copy, Category::two_engines, 0),
                                ocean_choice(implicit, Category::two_engines, 0),
                                ocean_choice(hybrid, Category::two_engines, 0)};
    for (const Category category : ocean_categories(bench)) choices.push_back(ocean_choice(streams, category, 0));
    const EvaluatedWorkload observed = observe(bench, std::move(workload), choices);
    for (const Choice& choice : choices) {
      const auto time = time_of(observed, choice);
      std::string result = "right";
      if (!time) {
        const auto skipped = std::ranges::find(observed.skipped, choice, &SkippedChoice::choice);
        result = "not run: " + (skipped == observed.skipped.end() ? observed.not_run : skipped->reason);
      }
      f.rows.push_back({std::string(ocean_kernels()[kernel].name), choice.strategy, static_cast<double>(choice.chunks),
                        to_string(choice.layout), ms(time), result});
    }
  }
  return f;
}

}  // namespace

StepResult run_ocean(const Bench& bench) {
  StepResult result;
  if (bench.profile.links.empty()) {
    cannot_check(result, error_claims, fmt::format("profile {} has no link to copy over", bench.profile.name));
    return result;
  }
  const std::vector<OceanRun> runs = ocean_runs(bench);
  std::vector<OceanTimes> all;
  for (const Category category : ocean_categories(bench))
    for (const OceanRun& run : runs) all.push_back(times_of(run, category));
  for (const Machine& machine : machines())
    if (std::ranges::find(all, machine.category, &OceanTimes::category) != all.end())
      result.figures.push_back(figure_of(bench, machine, runs, all, result.figures.empty()));
  if (bench.info.is_virtual) result.figures.push_back(reduced_figure(bench));
  for (Finding& f : judge_fastest(all, bench.info.is_virtual ? "simulated" : "observed"))
    result.findings.push_back(std::move(f));
  for (Finding& f : judge_ocean_errors(all)) {
    if (bench.info.is_virtual && f.verdict != Verdict::cannot_be_checked)
      f.why += std::string(f.why.empty() ? "" : "; ") + "against a simulation: how well two computations agree";
    result.findings.push_back(std::move(f));
  }
  const auto bounds = bounds_of(bench, runs, all);
  if (!bounds.empty()) result.findings.push_back(judge_bounds(bounds));
  return result;
}

}  // namespace shiplap::experiments::werkhoven
