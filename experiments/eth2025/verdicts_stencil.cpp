// Verdicts on the stencil, from its sweeps and the straight lines through its times.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/cells.hpp"
#include "experiments/eth2025/verdicts.hpp"
#include "experiments/eth2025/words.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap::experiments::eth {

Finding gain_grows_with_levels(std::span<const Sweep> sweeps) {
  constexpr std::string_view claim = "fig4-growth";
  const auto all = complete(sweeps);
  if (all.size() < 2) return unknown(claim, why_missing(sweeps));
  std::vector<std::string> bests;
  std::vector<std::string> falls;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double here = all[i]->best()->speedup;
    bests.push_back(fmt::format("{} levels {:.3f}", all[i]->of, here));
    if (i > 0 && here < all[i - 1]->best()->speedup / gain)
      falls.push_back(fmt::format("from {} to {} levels", all[i - 1]->of, all[i]->of));
  }
  const std::string observed = fmt::format("{}, with a launch for each step of a chunk", fmt::join(bests, ", "));
  const double few = all.front()->best()->speedup;
  const double many = all.back()->best()->speedup;
  if (many < few * gain)
    return found(claim, Verdict::does_not_hold, observed,
                 fmt::format("{} levels gain no more than {}; here a launch does all levels of a chunk", all.back()->of,
                             all.front()->of));
  const auto published = find(levels_best(), all.back()->of);
  std::string why;
  if (!falls.empty()) why = fmt::format("it falls {}", fmt::join(falls, ", "));
  if (!published || std::abs(many / published->speedup - 1) > alike)
    why += fmt::format("{}published {:.3f} to {:.3f}, with a launch for each level", why.empty() ? "" : "; ",
                       levels_best().front().speedup, published ? published->speedup : 1.886);
  return found(claim, why.empty() ? Verdict::holds : Verdict::holds_with_a_change, observed, why);
}

Finding optimum_moves_with_levels(std::span<const Sweep> sweeps) {
  constexpr std::string_view claim = "fig4-streams";
  const auto all = complete(sweeps);
  if (all.size() < 2) return unknown(claim, why_missing(sweeps));
  const auto few = *all.front()->best();
  const auto many = *all.back()->best();
  const std::string observed = fmt::format("{} with {} levels, {} with {}", streams(few.streams), all.front()->of,
                                           streams(many.streams), all.back()->of);
  if (many.streams > few.streams) return found(claim, Verdict::holds, observed);
  return found(claim, Verdict::does_not_hold, observed, "the best number does not grow with the levels");
}

Finding kernels_side_by_side(const Sweep& by_level, std::optional<double> one_launch_ms) {
  constexpr std::string_view claim = "fig5";
  const auto best = by_level.best();
  if (!best) return unknown(claim, why_missing({&by_level, 1}));
  const double best_ms = by_level.ms.at(best->streams);
  std::string observed =
      fmt::format("a level at a time: {} in one stream, {} in {}", shiplap::to_string(milliseconds(by_level.ms.at(1))),
                  shiplap::to_string(milliseconds(best_ms)), best->streams);
  if (one_launch_ms)
    observed +=
        fmt::format("; all levels in a launch, one stream: {}", shiplap::to_string(milliseconds(*one_launch_ms)));
  if (best->speedup < gain)
    return found(claim, Verdict::does_not_hold, observed,
                 fmt::format("launches of single levels gain less than {:.0f} % in streams", 100 * (gain - 1)));
  if (one_launch_ms && *one_launch_ms * gain < best_ms)
    return found(claim, Verdict::holds_with_a_change, observed,
                 fmt::format("streams make launches of single levels {:.3g} times as fast; one launch for all levels "
                             "needs none and is {:.3g} times as fast as the best of them",
                             best->speedup, best_ms / *one_launch_ms));
  return found(claim, Verdict::holds, observed);
}

Finding gain_of_squares(std::span<const Sweep> sweeps) {
  constexpr std::string_view claim = "squares";
  const auto all = complete(sweeps);
  if (all.size() < 2) return unknown(claim, why_missing(sweeps));
  std::vector<std::string> bests;
  for (const Sweep* s : all) bests.push_back(fmt::format("{:.3f} at {}²", s->best()->speedup, s->of));
  const double most =
      (*std::ranges::max_element(all, {}, [](const Sweep* s) { return s->best()->speedup; }))->best()->speedup;
  const double last = all.back()->best()->speedup;
  const std::string observed = fmt::format("{}", fmt::join(bests, ", "));
  if (last > 1 + alike)
    return found(claim, Verdict::does_not_hold, observed,
                 fmt::format("the largest gains {:.3g} %; here copies are of pinned memory and may overlap, in the "
                             "published program they cannot",
                             100 * (last - 1)));
  if (most < 1 + alike)
    return found(claim, Verdict::holds_with_a_change, observed,
                 fmt::format("no size gains more than {:.0f} % here, in one launch for each step", 100 * alike));
  return found(claim, Verdict::holds, observed);
}

Line line_through(std::uint64_t levels, const std::vector<std::pair<double, double>>& points) {
  const auto n = static_cast<double>(points.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const auto& [x, y] : points) sx += x, sy += y, sxx += x * x, sxy += x * y;
  const double spread = n * sxx - sx * sx;
  if (points.size() < 2 || spread <= 0) throw Error("a line needs two different numbers of steps");
  Line line{.levels = levels, .ms = 0, .ms_per_step = (n * sxy - sx * sy) / spread, .off = 0};
  line.ms = (sy - line.ms_per_step * sx) / n;
  for (const auto& [x, y] : points) line.off = std::max(line.off, std::abs(line.ms + line.ms_per_step * x - y) / y);
  return line;
}

Finding linear_in_steps(std::span<const Line> lines) {
  constexpr std::string_view claim = "fig7-linear";
  if (lines.empty()) return unknown(claim, "no times by number of steps");
  const auto worst = std::ranges::max_element(lines, {}, &Line::off);
  const std::string observed =
      fmt::format("{} levels: {:.4g} ms and {:.4g} ms a step in one stream, no point farther off than {:.2f} %",
                  worst->levels, worst->ms, worst->ms_per_step, 100 * worst->off);
  if (worst->off <= alike) return found(claim, Verdict::holds, observed);
  return found(claim, Verdict::does_not_hold, observed,
               fmt::format("a straight line would have all points within {:.0f} %", 100 * alike));
}

Finding gt4py_stencil(std::span<const Line> one_stream, std::span<const Line> best) {
  Finding out = unknown("fig6-gt4py", "GT4Py is not run here");
  for (std::size_t i = 0; i < std::min(one_stream.size(), best.size()); ++i) {
    const auto line = std::ranges::find(stencil_lines(), one_stream[i].levels, &PublishedLine::levels);
    if (line == stencil_lines().end()) continue;
    out.observed = fmt::format(
        "{} levels, a step: {:.4g} ms in one stream and {:.4g} ms in the best here; published {:.4g} ms, {:.4g} ms in "
        "64, and {:.4g} ms of GT4Py",
        line->levels, one_stream[i].ms_per_step, best[i].ms_per_step, 1e3 * line->one_stream_s_per_step,
        1e3 * line->best_s_per_step, 1e3 * line->gt4py_s_per_step);
    break;  // the report makes this claim for 4096 levels
  }
  return out;
}

Finding slope_and_levels(std::span<const Line> lines) {
  Finding out = unknown("fig8-slope",
                        "GT4Py is not run here; its published step takes 11.3 ms with 8 levels already, so that it is "
                        "not the levels that take the time");
  if (lines.size() >= 2)
    out.observed =
        fmt::format("our kernel: {:.4g} ms a step with {} levels, {:.4g} ms with {}", lines.front().ms_per_step,
                    lines.front().levels, lines.back().ms_per_step, lines.back().levels);
  return out;
}

}  // namespace shiplap::experiments::eth
