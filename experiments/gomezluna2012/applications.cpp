// Figs 5 to 7 and Table 2: matrix product, histogram and grayscale at every size, with the best numbers of streams.
#include "experiments/gomezluna2012/applications.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "experiments/gomezluna2012/steps.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/workload/launches.hpp"

namespace shiplap::experiments::gomez_luna {
namespace {

namespace model = gomez_luna_2012;

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
  // Frames are not divided, so 32 frames have at most 32 streams.
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
  return {
      claim, verdict, observed,
      verdict == Verdict::holds
          ? ""
          : fmt::format("the gain depends on t_E over t_T, which is {:.2f} to {:.2f} here; the paper does not print "
                        "its own",
                        ratios.low, ratios.high)};
}

/// For each size and emulated GPU, measures again the numbers by the equations, as printed and capped, and the best of
/// the sweep.
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

// Judges the claim that estimates double with p. Table 2 has 6.1, 12.2 and 24.5 for p = 1024 to 4096.
Finding of_growth(const std::vector<Row>& rows, Seconds sc280, Seconds sc480) {
  constexpr double twice = 2;
  constexpr double off = 0.25;  // largest deviation from a ratio of 2; the published ratios are 1.9 to 2.1
  std::string observed;
  std::string others;  // ratios that are not 2
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
    // At most the last two ratios count, as for the published GTX 280.
    bool all = estimates.size() > 1;
    for (std::size_t i = estimates.size() > 3 ? estimates.size() - 2 : 1; i < estimates.size(); ++i) {
      const double ratio = estimates[i] / estimates[i - 1];
      if (std::abs(ratio - twice) <= off * twice) continue;
      all = false;
      others += fmt::format("{}{:.2f} with {}", others.empty() ? "" : ", ", ratio, words(layout));
    }
    doubled += all ? 1 : 0;
  }
  return {"matmul-growth",
          doubled == 2   ? Verdict::holds
          : doubled == 1 ? Verdict::holds_with_a_change
                         : Verdict::does_not_hold,
          observed,
          doubled == 2     ? ""
          : others.empty() ? "there are no two sizes to compare"
                           : fmt::format("from one size to the next the estimate grows by a factor of {}", others)};
}

/// Judges the claim on the smallest matrix, p = 256.
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
                  "SMs, whose times add up to {:.1f} times that of one launch",
                  estimate, whole, to_string(best), small.blocks, n, bench.info.sm_count,
                  f.work_in(n, sc280).times.kernel / f.stages.kernel));
}

/// Throws Unsupported on a simulated GPU when neither its profile nor the paper gives the kernel's time.
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
        .figures = {application_graph(app, rows, runner, sc280, sc480),
                    application_table(app, rows, runner.how(), sc280, sc480), duels_figure(app, again, runner.how())},
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
    Figure table = application_table(app, rows, "missing", Seconds{0}, Seconds{0});
    table.note = fmt::format("Published figures alone: {}.", why.what());
    return {.figures = {std::move(table)}, .findings = unchecked(claims, why.what())};
  }
}

}  // namespace

StepResult matmul_tests(const Bench& bench) { return run(bench, matmul()); }
StepResult histogram_tests(const Bench& bench) { return run(bench, histogram()); }
StepResult grayscale_tests(const Bench& bench) { return run(bench, grayscale()); }

}  // namespace shiplap::experiments::gomez_luna
