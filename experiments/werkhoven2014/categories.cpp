// Figs 1-3 and 7: the equations for streams on a device of each category, in both scenarios, and the best number of
// streams. A device with two copy engines emulates the older ones: copies of both directions share one stream, and
// copies out wait until the last kernel has ended.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiments/cells.hpp"
#include "experiments/werkhoven2014/judge.hpp"
#include "experiments/werkhoven2014/steps.hpp"
#include "experiments/werkhoven2014/tables.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/model/van_werkhoven_2014_streams.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap::experiments::werkhoven {
namespace {

using van_werkhoven_2014::Category;
using van_werkhoven_2014::Work;

constexpr std::array<std::string_view, 6> category_ids{"eqs1-2",   "eqs3-4",        "eq5",
                                                       "drawback", "second-engine", "number-of-streams"};

// Bytes in each direction, which gives 512 KiB in each of 128 chunks.
constexpr Bytes each_way = 64_MiB;

std::string_view name_of_category(Category category) {
  switch (category) {
    case Category::implicit_sync_one_engine:
      return "one copy engine, implicit synchronisation (1)";
    case Category::one_engine:
      return "one copy engine (2)";
    case Category::two_engines:
      break;
  }
  return "two copy engines (3)";
}

Choice choice_of(Category category, std::uint32_t chunks) {
  const Layout layout = category == Category::two_engines  ? Layout::per_chunk
                        : category == Category::one_engine ? Layout::one_engine
                                                           : Layout::implicit_sync;
  return {.strategy = "streams", .chunks = chunks, .layout = layout, .order = IssueOrder::breadth};
}

/// Choice with one stream each for copies in, kernels and copies out. It differs from the emulated single engine only
/// in that the directions do not share a stream.
Choice on_two_engines(std::uint32_t chunks) {
  return {.strategy = "streams", .chunks = chunks, .layout = Layout::three, .order = IssueOrder::breadth};
}

/// Categories of the device, its own and those that it can emulate. A device cannot emulate a second copy engine, nor
/// the absence of implicit synchronisation.
std::vector<Category> possible(const Bench& bench) {
  std::vector<Category> all{Category::implicit_sync_one_engine};
  if (bench.profile.gpus.front().implicit_sync != ImplicitSync::none) return all;
  all.push_back(Category::one_engine);
  if (bench.info.copy_engines >= 2) all.push_back(Category::two_engines);
  return all;
}

/// The job of one scenario.
struct Case {
  Scenario scenario{};
  Job job;
  std::vector<CategoryPoint> points;
};

void add_point(Case& scenario, const Bench& bench, Category category, std::uint32_t chunks, Seconds observed,
               std::optional<Seconds> three_streams) {
  auto work = paper_parameters(scenario.job, chunks, bench.profile, category == Category::two_engines);
  if (!work) return;
  CategoryPoint point{.category = category,
                      .scenario = scenario.scenario,
                      .chunks = chunks,
                      .observed = observed,
                      .three_streams = three_streams};
  point.one_launch = van_werkhoven_2014::as_printed::streams_time(*work, chunks, category);
  work->kernel = summed_kernels(scenario.job, chunks);
  point.printed = van_werkhoven_2014::as_printed::streams_time(*work, chunks, category);
  point.corrected = van_werkhoven_2014::streams_time(*work, chunks, category);
  point.stages = {.h2d = work->in * work->h2d.per_byte, .kernel = work->kernel, .d2h = work->out * work->d2h.per_byte};
  scenario.points.push_back(std::move(point));
}

/// Scenario on a GPU: the kernel adds a number to each element repeatedly, with a number of iterations that makes the
/// wanted stage dominate.
Case observed_scenario(const Bench& bench, Scenario which, std::span<const std::uint32_t> chunks) {
  const unsigned iterations = which == Scenario::kernel ? 4000 : which == Scenario::between ? 1200 : 1;
  const Workload workload =
      find_workload(fmt::format("scalar-add:in={0},out={0},iterations={1}", each_way.count, iterations));
  std::vector<Choice> choices;
  for (const Category category : possible(bench))
    for (const std::uint32_t n : chunks) {
      choices.push_back(choice_of(category, n));
      if (category == Category::two_engines) choices.push_back(on_two_engines(n));
    }
  const EvaluatedWorkload observed = observe(bench, workload, choices);
  if (!observed.not_run.empty()) throw Unsupported(observed.not_run);
  Case scenario{.scenario = which, .job = workload.job, .points = {}};
  scenario.job.cost = observed.cost;
  for (const Category category : possible(bench))
    for (const std::uint32_t n : chunks)
      if (const auto time = time_of(observed, choice_of(category, n)))
        add_point(scenario, bench, category, n, *time,
                  category == Category::two_engines ? time_of(observed, on_two_engines(n)) : std::nullopt);
  return scenario;
}

/// Scenario on a virtual device: times without data, with a kernel time proportional to the copies, which every profile
/// with a link supports.
Case simulated_scenario(const Bench& bench, Scenario which, std::span<const std::uint32_t> chunks) {
  const LinkModel& link = bench.profile.links.front();
  const double factor = which == Scenario::kernel ? 1.5 : which == Scenario::between ? 0.7 : 0.1;
  const Seconds copies = each_way * link.h2d.per_byte.value + each_way * link.d2h.per_byte.value;
  Case scenario{.scenario = which,
                .job = stated_workload({.in = each_way, .out = each_way, .kernel = copies * factor}).job,
                .points = {}};
  const auto time = [&](const Choice& choice) {
    return predict(scenario.job, bench.profile, choice, bench.limits).predicted.value;
  };
  for (const Category category : possible(bench))
    for (const std::uint32_t n : chunks)
      add_point(scenario, bench, category, n, time(choice_of(category, n)),
                category == Category::two_engines ? std::optional(time(on_two_engines(n))) : std::nullopt);
  return scenario;
}

/// The paper's equation for a point, selected by t_E > T_hd.
std::string_view equation(const CategoryPoint& p) {
  const bool kernel_dominates = p.stages.kernel > p.stages.h2d;
  if (p.category == Category::two_engines) return "eq 5";
  if (p.category == Category::one_engine) return kernel_dominates ? "eq 3" : "eq 4";
  return kernel_dominates ? "eq 1" : "eq 2";
}

Figure overlap_figure(std::span<const CategoryPoint> points, const std::string& how) {
  Figure f{.id = "fig1-3",
           .where = "Figs 1-3",
           .title = "1, 2 and 4 streams on each category of device",
           .columns = {{"category", ""},
                       {"scenario", ""},
                       {"t_Thd", "ms"},
                       {"t_E", "ms"},
                       {"t_Tdh", "ms"},
                       {"1 stream", "ms"},
                       {"2 streams", "ms"},
                       {"4 streams", "ms"},
                       {"saved by 4", "%"}},
           .rows = {},
           .note = "The figures are drawings of what overlaps; here are the times of the same. " + how};
  for (const CategoryPoint& p : points) {
    if (p.chunks != 1) continue;
    std::vector<Cell> row{std::string(name_of_category(p.category)),
                          to_string(p.scenario),
                          in_milliseconds(p.stages.h2d),
                          in_milliseconds(p.stages.kernel),
                          in_milliseconds(p.stages.d2h),
                          in_milliseconds(p.observed),
                          Cell{},
                          Cell{},
                          Cell{}};
    for (const CategoryPoint& other : points) {
      if (other.category != p.category || other.scenario != p.scenario) continue;
      if (other.chunks == 2) row[6] = in_milliseconds(other.observed);
      if (other.chunks == 4) {
        row[7] = in_milliseconds(other.observed);
        row[8] = 100 * (1 - other.observed / p.observed);
      }
    }
    f.rows.push_back(std::move(row));
  }
  return f;
}

Figure equations_figure(const Bench& bench, Category category, std::span<const CategoryPoint> points,
                        const std::string& how) {
  Figure f{.id = fmt::format("fig7-category{}", static_cast<int>(category)),
           .where = "Fig. 7",
           .title = fmt::format("the equations for streams, {}", name_of_category(category)),
           .columns = {{"scenario", ""},
                       {"streams", ""},
                       {bench.info.is_virtual ? "simulated" : "here", "ms"},
                       {"equation", ""},
                       {"t_E", "ms"},
                       {"as printed", "ms"},
                       {"error as printed", "%"},
                       {"as printed with t_E of one launch", "ms"},
                       {"error with t_E of one launch", "%"}},
           .rows = {},
           .note = "t_E is the sum over the kernels of that many streams; one launch over everything can take less. "};
  const bool one_form = category == Category::two_engines;
  if (one_form) {
    f.note +=
        "Eq 5 is for both scenarios, with G and g of duplex copies. As in the paper each stream has "
        "a stream, in which kernels can run side by side; three streams, one each for copies in, kernels and "
        "copies out, have them one after the other. ";
    f.columns.push_back({"in three streams", "ms"});
    f.columns.push_back({"error in three streams", "%"});
  } else {
    f.note += "The printed equation is chosen by t_E > T_hd; the paper does not say what dominates. ";
    f.columns.push_back({"larger of both equations", "ms"});
    f.columns.push_back({"error of that", "%"});
  }
  f.note += how;
  for (const CategoryPoint& p : points) {
    if (p.category != category) continue;
    auto& row = f.rows.emplace_back();
    row = {to_string(p.scenario),
           static_cast<double>(p.chunks),
           in_milliseconds(p.observed),
           std::string(equation(p)),
           in_milliseconds(p.stages.kernel),
           in_milliseconds(p.printed),
           100 * (p.printed / p.observed - 1),
           in_milliseconds(p.one_launch),
           100 * (p.one_launch / p.observed - 1)};
    if (one_form) {
      row.push_back(ms(p.three_streams));
      row.push_back(p.three_streams ? Cell(100 * (p.printed / *p.three_streams - 1)) : Cell());
      continue;
    }
    row.emplace_back(in_milliseconds(p.corrected));
    row.emplace_back(100 * (p.corrected / p.observed - 1));
  }
  return f;
}

/// The printed rule and its number of streams. One g is used for both directions. For equal bytes, §VI's rules for eqs
/// 4 and 5 have no case, and the one for the slower direction is used.
StreamsChoice printed_rule(const Work& work, Category category, Scenario scenario) {
  const bool kernel_dominates = work.kernel > work.in * work.h2d.per_byte;
  StreamsChoice c{.category = category, .scenario = scenario, .rule = "none", .wanted = std::nullopt};
  const Seconds gap = (work.h2d.gap + work.d2h.gap) / 2;
  const Seconds in = work.in * work.h2d.per_byte;
  const Seconds out = work.out * work.d2h.per_byte;
  const auto wants = [&](std::string rule, double streams_wanted) {
    c.rule = std::move(rule);
    c.wanted = streams_wanted;
  };
  using namespace van_werkhoven_2014;
  if (category == Category::implicit_sync_one_engine && kernel_dominates)
    wants("√(Thd/g)", as_printed::eq1_optimum(work, gap));
  else if (category == Category::implicit_sync_one_engine)
    wants("√(tE/2g)", as_printed::eq2_optimum(work, gap));
  else if (category == Category::one_engine && !kernel_dominates)
    wants("smallest n of eq 4", eq4_smallest_useful(work));
  else if (category == Category::two_engines && !kernel_dominates)
    wants("√((T + tE)/g)", std::sqrt((std::min(in, out) + work.kernel) / gap));
  return c;
}

std::vector<StreamsChoice> streams_choices(const Bench& bench, std::span<const Case> scenarios) {
  std::vector<StreamsChoice> choices;
  for (const Case& s : scenarios)
    for (const Category category : possible(bench)) {
      std::vector<CategoryPoint> points;
      for (const CategoryPoint& p : s.points)
        if (p.category == category) points.push_back(p);
      if (points.empty()) continue;
      const CategoryPoint& best = *std::ranges::min_element(points, {}, &CategoryPoint::observed);
      // The parameters are those of copies of the size at the best number of chunks.
      const auto work = paper_parameters(s.job, best.chunks, bench.profile, category == Category::two_engines);
      StreamsChoice c = printed_rule(*work, category, s.scenario);
      c.best = best.chunks;
      if (c.wanted) {
        const CategoryPoint& taken = standing_for(points, *c.wanted, category == Category::one_engine);
        c.nearest = taken.chunks;
        c.regret = taken.observed / best.observed - 1;
      }
      choices.push_back(std::move(c));
    }
  return choices;
}

Figure streams_figure(const Bench& bench, std::span<const StreamsChoice> choices, std::span<const Case> scenarios) {
  Figure f{
      .id = "number-of-streams",
      .where = "§VI",
      .title = "how many streams",
      .columns = {{"category", ""},
                  {"scenario", ""},
                  {"printed rule", ""},
                  {"streams by it", ""},
                  {"optimum of the corrected form", ""},
                  {"number run for it", ""},
                  {"best number run", ""},
                  {"slower than that", "%"}},
      .rows = {},
      .note =
          "Numbers are powers of two up to the most of Fig. 7 here; for one between two of them the faster of both "
          "counts, for a smallest number the next one. A rule that the paper does not have is "
          "“none”: eq 3 falls for ever, and for eq 5 with a dominant kernel it says that it depends on the "
          "kernel. As in the equations, g is that of copies as large as those of the best number, the mean of "
          "both directions."};
  for (const StreamsChoice& c : choices) {
    const auto scenario = std::ranges::find(scenarios, c.scenario, &Case::scenario);
    const auto work = paper_parameters(scenario->job, c.best, bench.profile, c.category == Category::two_engines);
    const double optimum = van_werkhoven_2014::optimal_streams(*work, c.category);
    f.rows.push_back({std::string(name_of_category(c.category)), to_string(c.scenario), c.rule,
                      c.wanted ? Cell(*c.wanted) : Cell(), std::isfinite(optimum) ? Cell(optimum) : Cell("none"),
                      c.wanted ? Cell(static_cast<double>(c.nearest)) : Cell(), static_cast<double>(c.best),
                      c.wanted ? Cell(100 * c.regret) : Cell()});
  }
  return f;
}

StepResult checked(const Bench& bench) {
  const std::vector<std::uint32_t> chunks = bench.quick ? std::vector<std::uint32_t>{1, 2, 4, 8, 16, 32, 64, 128}
                                                        : std::vector<std::uint32_t>{1, 2, 4, 8, 16, 32, 64, 128, 256};
  std::vector<Case> scenarios;
  std::vector<CategoryPoint> points;
  for (const Scenario which : {Scenario::kernel, Scenario::between, Scenario::transfers}) {
    scenarios.push_back(bench.info.is_virtual ? simulated_scenario(bench, which, chunks)
                                              : observed_scenario(bench, which, chunks));
    std::ranges::copy(scenarios.back().points, std::back_inserter(points));
  }
  if (points.empty()) throw Unsupported("no equation has a form for what this device does");
  const std::string how =
      bench.info.is_virtual
          ? "Times are simulated, 64 MiB each way, with a kernel of 1.5, 0.7 and 0.1 times the copies."
          : "64 MiB each way through `scalar-add` with 4000, 1200 and 1 iterations. Categories that the "
            "device is not are emulated: copies of both directions share a stream, and for category "
            "1 results are held until the last kernel has ended.";
  const auto choices = streams_choices(bench, scenarios);
  StepResult result;
  result.figures = {overlap_figure(points, how)};
  for (const Category category : possible(bench))
    result.figures.push_back(equations_figure(bench, category, points, how));
  result.figures.push_back(streams_figure(bench, choices, scenarios));
  result.findings = judge_equations(points);
  result.findings.push_back(judge_second_engine(points));
  result.findings.push_back(judge_streams_choice(choices));
  for (const auto& [claim, category] : {std::pair{"eqs3-4", Category::one_engine}, {"eq5", Category::two_engines}})
    if (std::ranges::find(points, category, &CategoryPoint::category) == points.end()) {
      const std::array<std::string_view, 1> none{claim};
      cannot_check(result, none,
                   fmt::format("{} is no device with {}, and cannot stand for one", bench.info.name,
                               name_of_category(category)));
    }
  return result;
}

}  // namespace

StepResult run_categories(const Bench& bench) {
  StepResult result;
  if (bench.profile.links.empty()) {
    cannot_check(result, category_ids, fmt::format("profile {} has no link to copy over", bench.profile.name));
    return result;
  }
  try {
    return checked(bench);
  } catch (const Unsupported& why) {
    cannot_check(result, category_ids, why.what());
  }
  return result;
}

}  // namespace shiplap::experiments::werkhoven
