#include "shiplap/pipeline/node_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/measure/node_result.hpp"
#include "shiplap/pipeline/profile_cache.hpp"

namespace shiplap {
namespace {

/// Time for which the node is observed before it is measured.
constexpr Seconds first_look = milliseconds(200);
/// Time for which the node is observed after it worked. NVML's utilisation covers up to a second, which then contains
/// no work of this program. The same time tells whether load at the first look was only that of opening the device.
constexpr Seconds later_look = milliseconds(1100);

/// Time for one look and for measuring the fastest rows again. With less, a bad figure is not measured again.
constexpr Seconds least_for_attempt = milliseconds(1500);

// The limits for steady times are guesses. In profiles/h200.json 3 of 291 points of these primitives would be unsteady.

/// Largest ratio of the medians of two visits that agree, and of a bad figure in two attempts.
constexpr double steady_ratio = 1.25;
/// Fraction of points whose visits may disagree.
constexpr double most_unsteady = 0.2;
/// Shortest median, in µs, that is compared. Shorter times scatter by themselves.
constexpr double shortest_compared_us = 100;

constexpr std::string_view bytes_figure = "bytes that arrived";
constexpr std::string_view not_in_budget = "not measured within the budget";

/// Whether the figure may become better when it is measured again.
bool may_be_disturbed(const CheckedFigure& figure) {
  return figure.verdict == Verdict::bad && figure.what != bytes_figure;
}

std::vector<std::string> disturbed_figures(const std::vector<CheckedFigure>& figures) {
  std::vector<std::string> names;
  for (const CheckedFigure& figure : figures)
    if (may_be_disturbed(figure)) names.push_back(figure.what);
  return names;
}

/// The primitives for these figures, in the order of a check.
std::vector<std::string> rows_for(const std::vector<std::string>& figures) {
  std::vector<std::string> rows = checked_primitives();
  std::erase_if(rows, [&](const std::string& row) {
    return std::ranges::none_of(figures, [&](const std::string& figure) {
      const std::vector<std::string> needed = primitives_for(figure);
      return std::ranges::find(needed, row) != needed.end();
    });
  });
  return rows;
}

class NodeChecking {
 public:
  NodeChecking(MeasurableDevice& device, const NodeCheckOptions& options) : device_(device), options_(options) {}

  NodeCheck run() {
    if (is_busy_before()) {
      result_.profile = profile_from({}, device_.info(), options_.command);
      result_.figures = check(result_.profile);
      for (CheckedFigure& figure : result_.figures) figure.attempts = 0;
      return std::move(result_);
    }
    first_attempt();
    for (auto bad = disturbed_figures(result_.figures); !bad.empty(); bad = disturbed_figures(result_.figures)) {
      if (options_.deadline.left() < least_for_attempt) {
        // Without a look at the node nobody knows whether somebody else used it.
        give_up(Verdict::low, "bad, and the budget left no time to make sure");
        break;
      }
      result_.busy = busy_meanwhile(bad);
      if (!result_.busy.empty()) {
        give_up(Verdict::busy, "");
        break;
      }
      if (result_.attempts > options_.retries) break;
      measure_again(bad);
    }
    return std::move(result_);
  }

 private:
  NodeLoad load(Seconds duration) const {
    return options_.load ? options_.load(duration) : observe_load(device_, duration);
  }

  bool is_busy_before() {
    result_.busy = work_of_others(load(first_look));
    if (!result_.busy.empty()) result_.busy = work_of_others(load(later_look));
    return !result_.busy.empty();
  }

  MeasureResult measured(std::vector<std::string> rows) const {
    MeasureOptions measure_options;
    measure_options.effort = Effort::quick;
    measure_options.rows = std::move(rows);
    measure_options.deadline = options_.deadline;
    measure_options.progress = options_.progress;
    return measure(device_, measure_options);
  }

  std::vector<CheckedFigure> figures_of(const Profile& profile, const MeasureResult& result) const {
    std::vector<CheckedFigure> figures = check(profile);
    for (CheckedFigure& figure : figures) {
      const std::vector<std::string> rows = primitives_for(figure.what);
      const bool late = std::ranges::any_of(
          rows, [&](const std::string& row) { return std::ranges::find(result.late, row) != result.late.end(); });
      if (late && figure.verdict == Verdict::unknown) figure.measured = not_in_budget;
    }
    return figures;
  }

  void first_attempt() {
    MeasureResult first = measured(checked_primitives());
    result_.attempts = 1;
    result_.profile = profile_from(first, device_.info(), options_.command);
    result_.figures = figures_of(result_.profile, first);
    measurements_ = first.measurements;
    result_.skipped = std::move(first.skipped);
    result_.failed = std::move(first.failed);
  }

  /// What others did while the figures became bad.
  std::vector<std::string> busy_meanwhile(const std::vector<std::string>& bad) const {
    const NodeLoad now = load(later_look);
    std::vector<std::string> busy = work_of_others(now);
    if (busy.empty()) busy = possible_work_of_others(now);
    const double unsteady = unsteady_fraction(measurements_, rows_for(bad));
    if (busy.empty() && unsteady > most_unsteady)
      busy.push_back(
          fmt::format("{:.0f} % of the measured times changed by more than {:.0f} % from one visit to the next",
                      100 * unsteady, 100 * (steady_ratio - 1)));
    if (busy.empty()) busy = changed_;
    return busy;
  }

  void give_up(Verdict verdict, std::string_view reason) {
    for (CheckedFigure& figure : result_.figures) {
      if (!may_be_disturbed(figure)) continue;
      figure.verdict = verdict;
      figure.causes = reason.empty() ? fmt::format("{}", fmt::join(result_.busy, "; "))
                                     : fmt::format("{}; {}", reason, figure.causes);
    }
  }

  void measure_again(const std::vector<std::string>& bad) {
    const MeasureResult again = measured(rows_for(bad));
    ++result_.attempts;
    const Profile profile = profile_from(again, device_.info(), options_.command);
    const std::vector<CheckedFigure> figures = figures_of(profile, again);
    for (CheckedFigure& figure : result_.figures) {
      const auto now = std::ranges::find(figures, figure.what, &CheckedFigure::what);
      if (now == figures.end()) continue;
      if (figure.what == bytes_figure) add_bytes(figure, *now);
      if (std::ranges::find(bad, figure.what) == bad.end()) continue;
      if (now->verdict == Verdict::unknown) {
        figure.verdict = Verdict::low;
        figure.causes = fmt::format("bad, and it could not be measured again; {}", figure.causes);
        continue;
      }
      const auto [less, more] = std::minmax(figure.fraction, now->fraction);
      if (now->verdict == Verdict::bad && more > steady_ratio * less)
        changed_.push_back(fmt::format("{} changed from {} to {}", figure.what, figure.measured, now->measured));
      const unsigned attempts = figure.attempts + 1;
      // A disturbance makes a figure worse, never better.
      if (now->fraction > figure.fraction) figure = *now;
      figure.attempts = attempts;
    }
    measurements_ = again.measurements;
    std::ranges::copy(again.failed, std::back_inserter(result_.failed));
  }

  /// Bytes that were lost in any attempt are lost.
  static void add_bytes(CheckedFigure& figure, const CheckedFigure& now) {
    const unsigned attempts = figure.attempts + 1;
    if (now.verdict == Verdict::bad && figure.verdict != Verdict::bad) figure = now;
    figure.attempts = attempts;
  }

  MeasurableDevice& device_;
  const NodeCheckOptions& options_;
  NodeCheck result_;
  std::vector<Measurement> measurements_;  ///< samples from the last attempt
  std::vector<std::string> changed_;       ///< figures that were bad in two attempts, but not equally so
};

}  // namespace

Verdict NodeCheck::verdict() const {
  if (attempts > 0) return verdict_of(figures);
  if (!busy.empty()) return Verdict::busy;
  // Figures that were not measured on a GPU say nothing about a node.
  return is_of_a_node(profile.origin) ? verdict_of(figures) : Verdict::unknown;
}

NodeCheck check_node(MeasurableDevice& device, const NodeCheckOptions& options) {
  return NodeChecking(device, options).run();
}

NodeCheck check_profile(Profile profile) {
  NodeCheck result;
  result.figures = check(profile);
  for (CheckedFigure& figure : result.figures) figure.attempts = 0;
  result.profile = std::move(profile);
  return result;
}

double unsteady_fraction(std::span<const Measurement> measurements, std::span<const std::string> primitives) {
  double compared = 0;
  double unsteady = 0;
  for (const Measurement& m : measurements) {
    const std::span<const double> all = m.samples_us;
    if (m.visits < 2 || all.size() < 2 || std::ranges::find(primitives, m.primitive) == primitives.end()) continue;
    const double first = median(all.first(all.size() / 2));
    const double second = median(all.subspan(all.size() / 2));
    if (std::min(first, second) < shortest_compared_us) continue;
    ++compared;
    if (std::max(first, second) > steady_ratio * std::min(first, second)) ++unsteady;
  }
  return compared > 0 ? unsteady / compared : 0;
}

NodeResult result_of(const NodeCheck& checked) {
  return {.node = {},
          .gpu = {},
          .kind = checked.profile.name,
          .verdict = checked.verdict(),
          .busy = checked.busy,
          .figures = checked.figures,
          .attempts = checked.attempts,
          .origin = checked.profile.origin};
}

}  // namespace shiplap
