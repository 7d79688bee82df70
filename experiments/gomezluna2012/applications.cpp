// Figs 5 to 7 and Table 2: matrix product, histogram and grayscale at every size, and the best numbers of streams.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "experiments/gomezluna2012/runner.hpp"
#include "experiments/gomezluna2012/steps.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap::experiments::gomez_luna {
namespace {

namespace model = gomez_luna_2012;

/// One of the paper's three.
struct Application {
  std::string_view name, id, figure;
  std::span<const PublishedSize> sizes;
  std::size_t quick_sizes = 0;
  Range PublishedGpu::*gain = nullptr;
  std::vector<std::uint32_t> counts;
  std::string (*workload)(std::string_view size) = nullptr;
  /// The kernels of the GTX 480 follow from Table 2 by eq 6; those of matrix products do not, whose root holds copies.
  bool kernel_implied = false;
  std::size_t exceptions = 0;  ///< sizes for which the paper grants that its estimate is off
  std::string small;           ///< a workload that a virtual device runs with its bytes
};

std::string frames(std::string_view kind, unsigned count, std::string_view size) {
  const std::size_t x = size.find('x');
  return fmt::format("{}:frames={},width={},height={}", kind, count, size.substr(0, x), size.substr(x + 1));
}

Application matmul() {
  return {"matrix multiplication",
          "matmul",
          "Fig. 5",
          matmul_sizes,
          3,
          &PublishedGpu::matmul,
          {2, 4, 8, 16, 32, 64},
          [](std::string_view p) { return fmt::format("matmul:p={}", p); },
          false,
          1,
          "matmul:p=64"};
}
Application histogram() {
  return {"256-bins histogram of 64 frames",
          "histogram",
          "Fig. 6",
          histogram_sizes,
          3,
          &PublishedGpu::histogram,
          {2, 4, 8, 16, 32, 64},
          [](std::string_view size) { return frames("histogram", 64, size); },
          true,
          0,
          "histogram:frames=4,width=176,height=144"};
}
Application grayscale() {
  // A frame is never cut: 32 frames are 32 streams at most.
  return {"RGB to grayscale of 32 frames",
          "grayscale",
          "Fig. 7",
          grayscale_sizes,
          3,
          &PublishedGpu::grayscale,
          {2, 4, 8, 16, 32},
          [](std::string_view size) { return frames("grayscale", 32, size); },
          true,
          0,
          "grayscale:frames=4,width=176,height=144"};
}

Workload find_workload_of(const Application& app, const Runner& runner, const PublishedSize& size) {
  Workload workload = find_workload(app.workload(size.size));
  if (app.kernel_implied) runner.state_kernel(workload, milliseconds(implied_ms(size.on_480.estimated, gtx480)));
  return workload;
}

/// What was found at a size; nothing where it was not run.
struct Row {
  const PublishedSize* published = nullptr;
  std::optional<Found> found;
  std::uint64_t blocks = 0;  ///< of the kernel in one launch
};

std::string published(const PublishedOptimum& o) {
  return o.low == o.high ? fmt::format("{}", o.low) : fmt::format("{}–{}", o.low, o.high);
}

Cell gain(const Found& found, Layout layout) {
  const std::optional<Gain> gain = found.gain(layout);
  if (!gain) return {};
  if (disturbed(*gain)) return to_string(*gain);
  return gain->percent;
}
Cell most_gain(const Found& found, Layout layout) {
  const std::optional<Gain> gain = found.gain(layout);
  return gain ? Cell{gain->most} : Cell{};
}

/// A row for every size and number of streams.
Figure graph(const Application& app, const std::vector<Row>& rows, const Runner& runner, Seconds sc280, Seconds sc480) {
  Figure figure{.id = fmt::format("fig{}", app.figure.back()),
                .where = std::string(app.figure),
                .title = std::string(app.name),
                .columns = {{app.id == "matmul" ? "p" : "frame", ""},
                            {"streams", ""},
                            {"one copy engine", "ms"},
                            {"eqs 1 and 3", "ms"},
                            {"implicit synchronisation", "ms"},
                            {"eqs 5 and 7", "ms"},
                            {"today's engines", "ms"}},
                .rows = {},
                .note = {}};
  for (const Row& row : rows) {
    if (!row.found) continue;
    const Found& f = *row.found;
    const std::string key(row.published->size);
    const Cell alone = ms(f.unstreamed());
    figure.rows.push_back({key, std::string("none"), alone, in_milliseconds(f.stages.total()), alone,
                           in_milliseconds(f.stages.total()), alone});
    for (const std::uint32_t n : app.counts)
      figure.rows.push_back(
          {key, static_cast<double>(n), ms(f.time(as_280, n)),
           in_milliseconds(streamed_time(f.work(sc280), n, model::Architecture::cc1)), ms(f.time(as_480, n)),
           in_milliseconds(streamed_time(f.work(sc480), n, model::Architecture::cc2)), ms(f.time(today, n))});
  }
  figure.note = fmt::format(
      "Times are {}; the published figures are graphs without numbers. t_sc is {:.2f} and {:.2f} µs.{}{}{}",
      runner.how(), in_microseconds(sc280), in_microseconds(sc480),
      app.id == "matmul" ? " The matrix B is on the GPU before the clock of the paper starts; here its copy is part of "
                           "every run, and the time of that copy alone is taken off."
                         : "",
      app.id == "grayscale" ? " A frame is never cut, so that there are 32 streams at most." : "",
      runner.bench().quick && !runner.simulated() && app.quick_sizes < app.sizes.size()
          ? " The larger sizes are not run with --quick."
          : "");
  return figure;
}

Figure table2(const Application& app, const std::vector<Row>& rows, std::string_view how, Seconds sc280,
              Seconds sc480) {
  Figure figure{.id = fmt::format("table2_{}", app.id),
                .where = fmt::format("Table 2, {}", app.name),
                .title = "estimated and experimental optimum number of streams, and what streams gain",
                .columns = {{app.id == "matmul" ? "p" : "frame", ""},
                            {"estimated, GTX 280 published", ""},
                            {"experimental, GTX 280 published", ""},
                            {"estimated, GTX 480 published", ""},
                            {"experimental, GTX 480 published", ""},
                            {"t_Thd", "ms"},
                            {"t_E", "ms"},
                            {"t_Tdh", "ms"},
                            {"one copy engine: estimated", ""},
                            {"one copy engine: with the cap", ""},
                            {"one copy engine: experimental", ""},
                            {"one copy engine: gain", "%"},
                            {"one copy engine: most", "%"},
                            {"implicit synchronisation: estimated", ""},
                            {"implicit synchronisation: experimental", ""},
                            {"implicit synchronisation: gain", "%"},
                            {"implicit synchronisation: most", "%"},
                            {"today's engines: experimental", ""},
                            {"today's engines: gain", "%"},
                            {"today's engines: most", "%"}},
                .rows = {},
                .note = {}};
  for (const Row& row : rows) {
    const PublishedSize& p = *row.published;
    std::vector<Cell> cells{std::string(p.size), p.on_280.estimated, published(p.on_280), p.on_480.estimated,
                            published(p.on_480)};
    if (row.found) {
      const Found& f = *row.found;
      const model::Work w280 = f.work(sc280);
      const model::Work w480 = f.work(sc480);
      const std::vector<Cell> here{in_milliseconds(f.stages.h2d),
                                   in_milliseconds(f.stages.kernel),
                                   in_milliseconds(f.stages.d2h),
                                   model::as_printed::optimal_streams(w280, model::Architecture::cc1),
                                   model::optimal_streams(w280, model::Architecture::cc1),
                                   to_string(best_streams(f.times_with_none(as_280))),
                                   gain(f, as_280),
                                   most_gain(f, as_280),
                                   model::as_printed::optimal_streams(w480, model::Architecture::cc2),
                                   to_string(best_streams(f.times_with_none(as_480))),
                                   gain(f, as_480),
                                   most_gain(f, as_480),
                                   to_string(best_streams(f.times_with_none(today))),
                                   gain(f, today),
                                   most_gain(f, today)};
      cells.insert(cells.end(), here.begin(), here.end());
    }
    cells.resize(figure.columns.size());
    figure.rows.push_back(std::move(cells));
  }
  figure.note = fmt::format(
      "Ours is {}. Experimental: all numbers that were run within 1 % of the best, as published. Gain: time without "
      "streams over the best time with streams, minus 1. 1: without streams; an estimate below 1 means that too. Cap: "
      "eq 2, but no more than √(t_T/t_sc). Most: what there is to gain when the longest stage, or the one copy engine, "
      "never waits. Disturbed: times that differ from visit to visit, a time without streams more than {:.0f} % above "
      "its "
      "stages and what is between them, or a gain above the most by more than its noise and {:.0f} points: no "
      "finding.{}",
      how, 100 * alone_tolerance, gain_tolerance,
      std::ranges::all_of(rows, [](const Row& r) { return r.found.has_value(); })
          ? ""
          : " Sizes without figures of ours were not run.");
  return figure;
}

Finding of_gains(const Application& app, const std::vector<Row>& rows) {
  std::array<std::vector<double>, 3> gains;
  std::vector<double> shares;
  std::size_t points = 0;
  std::size_t off = 0;
  for (const Row& row : rows) {
    if (!row.found) continue;
    shares.push_back(row.found->stages.kernel / row.found->stages.transfers());
    for (std::size_t l = 0; l < all_layouts.size(); ++l) {
      const std::optional<Gain> gain = row.found->gain(all_layouts[l]);
      if (!gain) continue;
      ++points;
      if (disturbed(*gain))
        ++off;
      else
        gains[l].push_back(gain->percent);
    }
  }
  const std::string claim = fmt::format("{}-gain", app.id);
  const std::string left_out =
      off == 0 ? "" : fmt::format("{} of {} points were disturbed and are left out", off, points);
  if (gains[0].empty() && gains[1].empty()) return unknown(claim, off == 0 ? "nothing was run" : left_out);
  const Range ratios = range_of(shares);
  const Verdict verdict =
      worse_of(verdict_of_gains(gtx280.*app.gain, gains[0]), verdict_of_gains(gtx480.*app.gain, gains[1]));
  std::string observed;
  for (std::size_t l = 0; l < all_layouts.size(); ++l)
    observed += fmt::format("{}{} with {}", l == 0 ? "" : ", ",
                            gains[l].empty() ? std::string("none measured") : to_string(range_of(gains[l])),
                            words(all_layouts[l]));
  if (off > 0) observed += "; " + left_out;
  return {claim, verdict, observed,
          verdict == Verdict::holds
              ? ""
              : fmt::format("the gain follows from t_E over t_T, which is {:.2f} to {:.2f} here and another on the "
                            "paper's GPUs",
                            ratios.low, ratios.high)};
}

/// Of each size on both emulated GPUs the numbers that the equations give, as printed and capped, beside the best of
/// the sweep, all measured again.
std::vector<Duel> duels(const Application& app, Runner& runner, const std::vector<Row>& rows, Seconds sc280,
                        Seconds sc480) {
  std::vector<Duel> all;
  for (const Row& row : rows) {
    if (!row.found) continue;
    const Found& f = *row.found;
    std::vector<Choice> choices;
    std::vector<Duel> of_row;
    for (const Layout layout : {as_280, as_480}) {
      const model::Work w = f.work(layout == as_280 ? sc280 : sc480);
      const model::Architecture on = architecture_of(layout);
      const std::vector<Timed> times = f.times_with_none(layout);
      const Duel duel{.size = row.published->size,
                      .layout = layout,
                      .printed = whole_streams(model::as_printed::optimal_streams(w, on), w, on, app.counts.back()),
                      .capped = whole_streams(model::optimal_streams(w, on), w, on, app.counts.back()),
                      .best = std::ranges::min_element(times, {}, &Timed::ms)->streams};
      for (const std::uint32_t n : {duel.printed, duel.capped, duel.best})
        if (n > 1 && std::ranges::find(choices, streams(layout, n)) == choices.end())
          choices.push_back(streams(layout, n));
      of_row.push_back(duel);
      if (const auto alone = f.unstreamed()) of_row.back().alone_in_sweep = in_milliseconds(*alone);
    }
    const Found again = runner.run(find_workload_of(app, runner, *row.published), choices);
    for (Duel& duel : of_row) {
      duel.times = again.times_with_none(duel.layout);
      duel.noise = again.noise();
      duel.steady = again.steady();
      all.push_back(std::move(duel));
    }
  }
  return all;
}

Figure duels_figure(const Application& app, const std::vector<Duel>& all, std::string_view how) {
  Figure figure{
      .id = fmt::format("table2_{}_again", app.id),
      .where = fmt::format("Table 2, {}", app.name),
      .title = "what the estimates cost: their numbers of streams and the best of the sweep, timed again",
      .columns = {{app.id == "matmul" ? "p" : "frame", ""},
                  {"emulated", ""},
                  {"best of the sweep", ""},
                  {"its time", "ms"},
                  {"by the equations", ""},
                  {"time by the equations", "ms"},
                  {"longer", "%"},
                  {"with the cap", ""},
                  {"time with the cap", "ms"},
                  {"longer with the cap", "%"},
                  {"steady", ""}},
      .rows = {},
      .note = fmt::format("Times are {}, in turn with each other; 1: without streams. The number by an estimate "
                          "is that of both whole ones beside it which the equations put first. Disturbed: times that "
                          "differ from visit to visit, or a time without streams that is another than in the sweep by "
                          "more than {:.0f} %.",
                          how, 100 * same_alone)};
  for (const Duel& d : all)
    figure.rows.push_back({std::string(d.size), std::string(words(d.layout)), static_cast<double>(d.best),
                           cell(d.ms(d.best)), static_cast<double>(d.printed), cell(d.ms(d.printed)),
                           in_percent(d.longer(d.printed)), static_cast<double>(d.capped), cell(d.ms(d.capped)),
                           in_percent(d.longer(d.capped)), std::string(d.disturbed() ? "no, disturbed" : "yes")});
  return figure;
}

// Table 2's estimates of p = 1024 to 4096 double with p: 6.1, 12.2, 24.5.
Finding of_growth(const std::vector<Row>& rows, Seconds sc280, Seconds sc480) {
  constexpr double twice = 2;
  constexpr double off = 0.25;  // the published ratios are 1.9 to 2.1; half an octave is no doubling
  std::string observed;
  std::size_t doubled = 0;
  for (const Layout layout : {as_280, as_480}) {
    std::vector<double> estimates;
    for (const Row& row : rows)
      if (row.found)
        estimates.push_back(model::as_printed::optimal_streams(row.found->work(layout == as_280 ? sc280 : sc480),
                                                               architecture_of(layout)));
    std::string numbers;
    for (const double e : estimates) numbers += fmt::format("{}{:.1f}", numbers.empty() ? "" : ", ", e);
    observed += fmt::format("{}{}: {}", observed.empty() ? "" : "; ", words(layout), numbers);
    // The last two doublings at most, as for the published GTX 280.
    bool all = estimates.size() > 1;
    for (std::size_t i = estimates.size() > 3 ? estimates.size() - 2 : 1; i < estimates.size(); ++i)
      all = all && std::abs(estimates[i] / estimates[i - 1] - twice) <= off * twice;
    doubled += all ? 1 : 0;
  }
  return {"matmul-growth",
          doubled == 2   ? Verdict::holds
          : doubled == 1 ? Verdict::holds_with_a_change
                         : Verdict::does_not_hold,
          observed,
          doubled == 2 ? ""
                       : "the kernel grows with the cube of p and copies with its square: estimates double only where "
                         "the same equation holds on both sides and its root is over copies"};
}

/// p = 256.
Finding of_smallest(const Bench& bench, const Application& app, const std::vector<Row>& rows, Seconds sc280) {
  const Row& small = rows.front();
  if (bench.info.is_virtual || !small.found)
    return unknown("blocks", "a derived kernel time is in proportion to the rows, however few blocks a launch has");
  const Found& f = *small.found;
  const model::Work w = f.work(sc280);
  const double estimate = model::as_printed::optimal_streams(w, model::Architecture::cc1);
  const std::uint32_t whole = whole_streams(estimate, w, model::Architecture::cc1, app.counts.back());
  const std::vector<std::uint32_t> best = best_streams(f.times_with_none(as_280));
  const auto n = nearest(f.times(as_280), estimate).streams;
  const bool steady =
      f.alone && f.alone->steady && f.stages_steady && f.steady_times(as_280).size() == f.times(as_280).size();
  return of_blocks(
      whole, best, steady,
      fmt::format("p = 256: estimated {:.1f}, which is {}, experimental {}; {} blocks in {} launches on {} "
                  "multiprocessors, whose times add up to {:.1f} times that of one launch",
                  estimate, whole, to_string(best), small.blocks, n, bench.info.multiprocessors,
                  f.work_in(n, sc280).times.kernel / f.stages.kernel));
}

/// Throws Unsupported on a simulated GPU whose kernels neither its profile nor the paper tells.
void require_kernel(const Bench& bench, const Application& app) {
  const GpuModel& gpu = bench.profile.gpus.front();
  if (!bench.info.is_virtual || app.kernel_implied || (gpu.memory_bandwidth && gpu.flop_rate)) return;
  throw Unsupported(fmt::format("profile {} has no rates of kernels, and the paper gives no kernel times of {}",
                                bench.profile.name, app.name));
}

StepResult run(const Bench& bench, const Application& app) {
  std::vector<std::string> ids{fmt::format("{}-gain", app.id), fmt::format("{}-optimum", app.id)};
  if (app.id == "matmul") ids.insert(ids.end(), {"matmul-growth", "blocks"});
  std::vector<Row> rows;
  for (const PublishedSize& size : app.sizes) rows.push_back({.published = &size, .found = {}});
  try {
    Runner runner(bench);
    runner.verify_small(app.small);
    require_kernel(bench, app);
    const std::size_t wanted = bench.quick && !bench.info.is_virtual ? app.quick_sizes : rows.size();
    const Seconds sc280 = runner.per_stream(as_280);
    const Seconds sc480 = runner.per_stream(as_480);
    bool stated = false;
    std::vector<Asked> asked;
    for (std::size_t i = 0; i < wanted; ++i) {
      asked.push_back({find_workload_of(app, runner, *rows[i].published), sweep(all_layouts, app.counts)});
      const Job& job = asked.back().workload.job;
      stated = stated || (bench.info.is_virtual && !job.cost.points.empty());
      rows[i].blocks = blocks_of(job, job.items);
    }
    std::vector<Found> found = runner.run(asked);
    asked.clear();
    for (std::size_t i = 0; i < wanted; ++i) rows[i].found = std::move(found[i]);
    const std::vector<Duel> again = duels(app, runner, rows, sc280, sc480);
    StepResult result{
        .figures = {graph(app, rows, runner, sc280, sc480), table2(app, rows, runner.how(), sc280, sc480),
                    duels_figure(app, again, runner.how())},
        .findings = {of_gains(app, rows), of_estimates(fmt::format("{}-optimum", app.id), again, app.exceptions)}};
    if (stated)
      for (Figure& figure : result.figures)
        figure.note +=
            " The profile has no rates of kernels: t_E is that of the GTX 480, which Table 2's estimates imply by eq "
            "6.";
    if (app.id == "matmul") {
      result.findings.push_back(of_growth(rows, sc280, sc480));
      result.findings.push_back(of_smallest(bench, app, rows, sc280));
    }
    return result;
  } catch (const Unsupported& why) {
    for (Row& row : rows) row.found.reset();
    const std::vector<std::string_view> claims(ids.begin(), ids.end());
    Figure table = table2(app, rows, "missing", Seconds{0}, Seconds{0});
    table.note = fmt::format("Published figures alone: {}.", why.what());
    return {.figures = {std::move(table)}, .findings = unchecked(claims, why.what())};
  }
}

}  // namespace

StepResult matmul_tests(const Bench& bench) { return run(bench, matmul()); }
StepResult histogram_tests(const Bench& bench) { return run(bench, histogram()); }
StepResult grayscale_tests(const Bench& bench) { return run(bench, grayscale()); }

}  // namespace shiplap::experiments::gomez_luna
