// Figs 4 to 8: diffusion by levels, size of the levels, steps and streams.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/eth2025/figures.hpp"
#include "experiments/eth2025/steps.hpp"
#include "experiments/eth2025/verdicts.hpp"

namespace shiplap::experiments::eth {
namespace {

constexpr std::array<std::uint32_t, 4> stencil_few_streams{1, 4, 16, 64};

/// On a GPU only some numbers of streams are run, because verifying a field takes longer than its runs.
constexpr std::array<std::uint32_t, 5> stencil_some_streams{1, 4, 16, 64, 128};

std::span<const std::uint32_t> stencil_streams_of(const Bench& bench) {
  if (reduced(bench)) return stencil_few_streams;
  return bench.info.is_virtual ? std::span<const std::uint32_t>(stencil_streams) : std::span(stencil_some_streams);
}

std::string field(std::uint64_t side, std::uint64_t nz, unsigned steps) {
  return fmt::format("diffusion:nx={},ny={},nz={},steps={}", side, side, nz, steps);
}

/// Published seconds in one stream, in 64 streams, and of GT4Py, by the straight lines; empty for other numbers of
/// levels.
std::vector<double> published_seconds(std::uint64_t levels, unsigned steps) {
  for (const PublishedLine& line : stencil_lines())
    if (line.levels == levels)
      return {line.one_stream_s_per_step * steps, line.best_s_per_step * steps,
              line.gt4py_s + line.gt4py_s_per_step * steps};
  return {};
}

const Column levels_column{"levels", ""};
const std::string one_launch_note =
    "Here a launch does one step of all levels of a chunk, and chunks are copied while others are computed; the "
    "published program launches a kernel for every level and step, and overlaps no copy. No more streams than levels.";

/// Times with a launch for each level by number of streams, beside one launch for all levels of a step.
Figure levels_figure(const Bench& bench, const std::string& what, std::span<const std::uint32_t> streams,
                     const Sweep& by_level, const Sweep& in_one) {
  std::string note =
      "A level is a chunk; levels are dealt out to the streams, each with all its steps. Published: run 265510, 8192 "
      "levels, 512 steps; there every step of all levels is dealt out in turn.";
  if (in_one.ms.contains(1)) {
    note +=
        fmt::format(" All levels in a launch take {} in one stream", shiplap::to_string(milliseconds(in_one.ms.at(1))));
    if (in_one.automatic_ms)
      note += fmt::format(", the plan's choice ({}) {}", in_one.automatic,
                          shiplap::to_string(milliseconds(*in_one.automatic_ms)));
    note += ".";
  }
  if (!by_level.missing.empty()) note += " Not there: " + by_level.missing + ".";
  Figure figure = empty_figure(heading(bench, "fig4-levels", "Figs 4 and 5", what + ", 128 x 128 points", note));
  figure.columns = {{"streams", ""},
                    {"time", "s"},
                    {"speed-up", ""},
                    {"published, 512 steps", "s"},
                    {"published speed-up, 512 steps", ""}};
  for (const std::uint32_t s : streams) {
    const auto time = by_level.ms.find(s);
    const double published = stencil_ms()[std::ranges::find(stencil_streams, s) - stencil_streams.begin()];
    figure.rows.push_back({static_cast<double>(s),
                           cell(time == by_level.ms.end() ? std::nullopt : std::optional<double>(time->second / 1e3)),
                           cell(by_level.speedup(s)), published / 1e3, stencil_ms()[0] / published});
  }
  return figure;
}

}  // namespace

StepResult levels(const Bench& bench) {
  std::vector<std::uint64_t> nz{8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};
  if (bench.quick) nz = {8, 64, 512, 8192};
  if (!bench.info.is_virtual) nz = {8, 64, 512, 2048};
  std::vector<Sweep> all;
  for (std::size_t i = 0; i < nz.size(); ++i) {
    progress(bench, fmt::format("diffusion, {} levels", nz[i]), i, nz.size());
    all.push_back(sweep(bench, nz[i], field(128, nz[i], 512), as_published(stencil_streams_of(bench), nz[i]),
                        bench.quick ? 3 : 5));
  }
  StepResult result;
  result.figures = {
      speedups(heading(bench, "fig4", "Fig. 4", "speed-up by number of streams, 128 x 128 points, 512 steps",
                       one_launch_note),
               levels_column, all, stencil_streams_of(bench)),
      bests(heading(bench, "fig4-best", "Fig. 4", "the best of each number of levels, 128 x 128 points, 512 steps",
                    "Published: run 265510."),
            levels_column, all, levels_best())};
  result.findings = {gain_grows_with_levels(all), optimum_moves_with_levels(all)};
  return result;
}

StepResult many_levels(const Bench& bench) {
  // 32 steps are run, because a run of 65536 levels with 512 steps takes 3 s.
  std::vector<std::uint64_t> nz{32768, 65536};
  if (bench.quick || !bench.info.is_virtual) nz = {65536};
  if (reduced(bench)) nz = {8192};
  // A field of 65536 levels has 9 GB to fill and verify for each number of streams, so few are run. The published best
  // is 128.
  std::vector<std::uint32_t> some{1, 16, 64, 128};
  if (!bench.info.is_virtual && !bench.quick) some = {1, 128};
  std::vector<Sweep> all;
  for (std::size_t i = 0; i < nz.size(); ++i) {
    progress(bench, fmt::format("diffusion, {} levels, 32 steps", nz[i]), i, nz.size());
    all.push_back(sweep(bench, nz[i], field(128, nz[i], 32), as_published(some, nz[i]), 3));
  }
  StepResult result;
  result.figures = {
      bests(heading(bench, "fig4-deep", "§4.1 and Fig. 4", "the largest numbers of levels, 128 x 128 points, 32 steps",
                    "Published: run 265510, 32 steps. " + one_launch_note),
            levels_column, all, levels_best_of_32_steps())};
  result.findings = {best_speedup("deep", all.back(), *find(levels_best_of_32_steps(), all.back().of),
                                  fmt::format("{} levels, 32 steps", all.back().of))};
  return result;
}

StepResult level_launches(const Bench& bench) {
  constexpr std::uint64_t nz = 8192;
  // 512 steps are 4.2 million launches and take 20 s per run. The best is published for 32 steps too.
  const unsigned steps = bench.info.is_virtual ? 512 : 32;
  std::vector<std::uint32_t> streams{1, 4, 16, 64, 128};
  if (!bench.info.is_virtual) streams = {1, 16, 64, 128};
  if (reduced(bench)) streams = {1, 64};
  progress(bench, "diffusion, a launch for each level and step", 0, 1);
  Sweep by_level = sweep(bench, nz, field(128, nz, steps), level_by_level(streams, nz), bench.quick ? 1 : 2);
  constexpr std::array<std::uint32_t, 1> one{1};
  const Sweep in_one = sweep(bench, nz, field(128, nz, steps), as_published(one, nz), 3);
  const std::string what = fmt::format("{} levels, {} steps, a launch for each level and step", nz, steps);

  StepResult result;
  result.figures.push_back(levels_figure(bench, what, streams, by_level, in_one));
  if (bench.info.is_virtual && by_level.missing.empty()) {
    const auto simulated = by_level.best();
    const std::string why = fmt::format(
        "the kernel's time is derived from its operations and bytes, which say nothing of launches that are too small "
        "for the GPU; simulated, the best number of streams is {:.3g} times as fast as one",
        simulated ? simulated->speedup : 1);
    result.findings = {unknown("fig4-best", why), unknown("fig5", why)};
    return result;
  }
  // With a launch for each level, the plan's choice and ideal overlap are not comparable.
  by_level.automatic_ms.reset();
  by_level.ideal_overlap_ms.reset();
  // Comparison with the published values of the same field and number of steps.
  Finding best =
      best_speedup("fig4-best", by_level, *find(steps == 512 ? levels_best() : levels_best_of_32_steps(), nz), what);
  if (steps != 512 && best.verdict == Verdict::holds) {
    best.verdict = Verdict::holds_with_a_change;
    best.why = fmt::format("{} steps in place of 512", steps);
  }
  result.findings = {
      std::move(best),
      kernels_side_by_side(by_level, in_one.ms.contains(1) ? std::optional(in_one.ms.at(1)) : std::nullopt)};
  return result;
}

StepResult squares(const Bench& bench) {
  std::vector<std::uint64_t> sides{8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  if (bench.quick) sides = {8, 128, 1024, 4096};
  if (!bench.info.is_virtual) sides = {8, 64, 256, 512, 2048};
  if (reduced(bench)) sides = {8, 128, 512};
  std::vector<Sweep> all;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    progress(bench, fmt::format("diffusion, 64 levels of {} x {}", sides[i], sides[i]), i, sides.size());
    // Larger levels get fewer steps, because 512 steps take a second or more.
    const unsigned steps = sides[i] > 1024 ? 32 : 512;
    all.push_back(sweep(bench, sides[i], field(sides[i], 64, steps), as_published(stencil_streams_of(bench), 64),
                        bench.quick || sides[i] >= 1024 ? 3 : 5));
  }
  StepResult result;
  const std::vector<PublishedBest> published = together(squares_best(), squares_best_of_32_steps());
  const Column column{"nx = ny", ""};
  const std::string which = "64 levels, 512 steps (32 from 2048 x 2048 on)";
  const auto no_more = std::ranges::upper_bound(stencil_streams_of(bench), 64u) - stencil_streams_of(bench).begin();
  result.figures = {
      speedups(heading(bench, "squares", "§4.1", "speed-up by number of streams, " + which, one_launch_note), column,
               all, stencil_streams_of(bench).first(static_cast<std::size_t>(no_more))),
      bests(heading(bench, "squares-best", "§4.1", "the best of each size, " + which,
                    "Published: run 265180, not in the report."),
            column, all, published)};
  result.findings = {gain_of_squares(all)};
  return result;
}

StepResult time_steps(const Bench& bench) {
  std::vector<std::uint64_t> nz{4096, 8192};
  std::vector<unsigned> steps{32, 64, 128, 256, 512, 1024};
  if (bench.quick) steps = {32, 128, 512};
  if (!bench.info.is_virtual) {
    nz = {2048, 4096};
    steps = {32, 64, 128};
  }
  if (reduced(bench)) nz = {1024, 2048};
  constexpr std::array<std::uint32_t, 4> streams{1, 4, 16, 64};
  Figure figure = empty_figure(
      heading(bench, "fig6", "Figs 6 to 8", "time of diffusion by number of steps, 128 x 128 points",
              "Published: straight lines through the authors' times, those of GT4Py as printed (of 4096 levels its "
              "beginning from their file); GT4Py is not run here. " +
                  one_launch_note));
  figure.columns = {{"levels", ""}, {"steps", ""}};
  for (const std::uint32_t s : streams) figure.columns.push_back({fmt::format("in {}", s), "s"});
  for (const char* what : {"published, 1 stream", "published, 64 streams", "published, GT4Py"})
    figure.columns.push_back({what, "s"});

  std::vector<Line> one_stream;
  std::vector<Line> best;
  std::vector<Sweep> all;
  std::size_t done = 0;
  for (const std::uint64_t levels : nz) {
    std::vector<std::pair<double, double>> in_one;
    std::vector<std::pair<double, double>> in_best;
    for (const unsigned n : steps) {
      progress(bench, fmt::format("diffusion, {} levels, {} steps", levels, n), done++, nz.size() * steps.size());
      Sweep s = sweep(bench, levels, field(128, levels, n), as_published(streams, levels), 3);
      auto& row = figure.rows.emplace_back();
      row.emplace_back(static_cast<double>(levels));
      row.emplace_back(static_cast<double>(n));
      for (const std::uint32_t k : streams)
        row.push_back(cell(s.ms.contains(k) ? std::optional<double>(s.ms.at(k) / 1e3) : std::nullopt));
      for (const double time : published_seconds(levels, n)) row.emplace_back(time);
      row.resize(figure.columns.size());
      if (const auto found = s.best()) {
        in_one.emplace_back(n, s.ms.at(1));
        in_best.emplace_back(n, s.ms.at(found->streams));
      }
      all.push_back(std::move(s));
    }
    if (in_one.size() < 2) continue;
    one_stream.push_back(line_through(levels, in_one));
    best.push_back(line_through(levels, in_best));
  }
  if (const std::string missing = missing_of(all); !missing.empty()) figure.note += " Not there: " + missing + ".";
  StepResult result{
      .figures = {std::move(figure)},
      .findings = {linear_in_steps(one_stream), gt4py_stencil(one_stream, best), slope_and_levels(one_stream)}};
  if (one_stream.empty()) result.findings.front().why = missing_of(all);
  return result;
}

}  // namespace shiplap::experiments::eth
