// Verdicts on the equations for streams, the second copy engine and the number of streams.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "experiments/werkhoven2014/judge.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/model/van_werkhoven_2014_overlap.hpp"

namespace shiplap::experiments::werkhoven {

std::string to_string(Scenario scenario) {
  switch (scenario) {
    case Scenario::kernel:
      return "dominant kernel";
    case Scenario::between:
      return "kernel longer than one direction's copies";
    case Scenario::transfers:
      break;
  }
  return "dominant transfers";
}

namespace {

using van_werkhoven_2014::Category;

// Largest error that counts as good. The paper has no errors for single equations, so this is the worst error of any of
// its estimates.
constexpr double good_enough = worst_hybrid;
// Largest relative cost of a number of streams that counts as good as the best, because the paper's rules only limit a
// search.
constexpr double good_choice = 0.05;
// Least relative increase at the largest number of streams that counts as a drawback. Repeated runs differ by less.
constexpr double rise = 0.02;

/// Absolute errors of one form, and the point of the worst one.
struct Errors {
  std::vector<double> all;
  double worst = 0;
  double worst_as_used = 0;  // worst error up to the number of streams that the paper uses
  std::string where;

  void add(double error, const CategoryPoint& p) {
    all.push_back(std::abs(error));
    if (p.chunks <= streams_used) worst_as_used = std::max(worst_as_used, std::abs(error));
    if (std::abs(error) < worst) return;
    worst = std::abs(error);
    where = fmt::format("{}, {} streams", to_string(p.scenario), p.chunks);
  }
  std::string text() const {
    return fmt::format("median {:.2f} %, worst {:.2f} % ({}), up to {} streams {:.2f} %", 100 * median(all),
                       100 * worst, where, streams_used, 100 * worst_as_used);
  }
};

/// A reading of the equations, with its change; without a change for the paper's own.
struct Reading {
  std::string_view name;
  std::string_view change;
  Errors errors{};
};

Finding judge_category(std::string_view claim, std::span<const CategoryPoint> points, Category category) {
  Reading printed{"equation chosen by t_E > T_hd", "", {}};
  Reading other{"the larger of the two", "with the larger of the two equations, not the one of the dominant part", {}};
  Reading one_launch{"as printed with t_E of one launch", "", {}};
  const bool two_engines = category == Category::two_engines;
  if (two_engines) {
    printed.name = "a stream for each stream";
    other.name = "three streams";
    other.change =
        "with all kernels in one stream: a stream for each stream lets kernels run side by side, and eq 5 adds them up";
  }
  for (const CategoryPoint& p : points) {
    if (p.category != category) continue;
    printed.errors.add(p.printed / p.observed - 1, p);
    one_launch.errors.add(p.one_launch / p.observed - 1, p);
    if (!two_engines)
      other.errors.add(p.corrected / p.observed - 1, p);
    else if (p.three_streams)
      other.errors.add(p.printed / *p.three_streams - 1, p);
  }
  Finding f{std::string(claim), Verdict::holds, "", ""};
  for (const Reading* r : {&printed, &other, &one_launch})
    if (!r->errors.all.empty()) f.observed += fmt::format("{}: {}; ", r->name, r->errors.text());
  f.observed += fmt::format("{} points", printed.errors.all.size());
  if (printed.errors.worst <= good_enough) return f;
  f.verdict = Verdict::holds_with_a_change;
  const bool has_other = !other.errors.all.empty();
  if (has_other && other.errors.worst <= good_enough) {
    f.why = other.change;
  } else if (printed.errors.worst_as_used <= good_enough) {
    f.why = fmt::format("up to the {} streams that the paper uses; with more it is off by up to {:.2f} %", streams_used,
                        100 * printed.errors.worst);
  } else if (has_other && other.errors.worst_as_used <= good_enough) {
    f.why = fmt::format("{}; and up to the {} streams that the paper uses: with more it is off by up to {:.2f} %",
                        other.change, streams_used, 100 * other.errors.worst);
  } else {
    f.verdict = Verdict::does_not_hold;
    f.why = fmt::format("off by more than {:.2f} %, the worst error of the paper", 100 * good_enough);
  }
  return f;
}

Finding judge_drawback(std::span<const CategoryPoint> points) {
  // For each scenario, the relative increase of the time from the best to the largest number of chunks.
  double most_rise = 0;
  double most_model_fall = 0;
  for (const CategoryPoint& last : points) {
    const auto same = [&](const CategoryPoint& p) {
      return p.category == last.category && p.scenario == last.scenario;
    };
    double best = last.observed.count();
    const CategoryPoint* before = nullptr;
    bool is_last = true;
    for (const CategoryPoint& p : points) {
      if (!same(p)) continue;
      best = std::min(best, p.observed.count());
      if (p.chunks > last.chunks) is_last = false;
      if (p.chunks < last.chunks && (before == nullptr || p.chunks > before->chunks)) before = &p;
    }
    if (!is_last || before == nullptr) continue;
    most_rise = std::max(most_rise, last.observed.count() / best - 1);
    if (last.category == Category::one_engine && last.scenario == Scenario::kernel)
      most_model_fall = std::max(most_model_fall, 1 - last.one_launch / before->one_launch);
  }
  Finding f{"drawback", Verdict::holds,
            fmt::format("the most streams take up to {:.1f} % longer than the best number", 100 * most_rise), ""};
  if (most_model_fall > 0) {
    f.verdict = Verdict::does_not_hold;
    f.why = fmt::format(
        "eq 3 has no g: for a constant t_E its estimate still falls at the last step to more streams, by {:.2g} %",
        100 * most_model_fall);
  } else if (most_rise <= rise) {
    f.verdict = Verdict::does_not_hold;
    f.why = "no drawback was seen up to the most streams that were run";
  }
  return f;
}

}  // namespace

std::vector<Finding> judge_equations(std::span<const CategoryPoint> points) {
  std::vector<Finding> findings;
  const auto add = [&](std::string_view claim, Category category) {
    if (std::ranges::find(points, category, &CategoryPoint::category) != points.end())
      findings.push_back(judge_category(claim, points, category));
  };
  add("eqs1-2", Category::implicit_sync_one_engine);
  add("eqs3-4", Category::one_engine);
  add("eq5", Category::two_engines);
  if (!points.empty()) findings.push_back(judge_drawback(points));
  return findings;
}

Finding judge_second_engine(std::span<const CategoryPoint> points) {
  std::size_t clear = 0;
  std::size_t printed_right = 0;
  std::size_t corrected_right = 0;
  std::size_t side_by_side = 0;
  std::string example;
  double example_gain = 0;
  // "Does not help" means a gain within a tie. Gains just above a tie count for neither side.
  constexpr double helpful = 2 * tie;
  for (const CategoryPoint& one : points) {
    if (one.category != Category::one_engine || one.chunks < 2 || one.chunks > streams_used) continue;
    for (const CategoryPoint& two : points) {
      if (two.category != Category::two_engines || two.chunks != one.chunks || two.scenario != one.scenario) continue;
      if (!two.three_streams) continue;
      const double gain = one.observed / *two.three_streams - 1;
      const double expected = van_werkhoven_2014::streams_time(one.stages, one.chunks, Category::one_engine) /
                                  van_werkhoven_2014::two_engines(one.stages, one.chunks) -
                              1;
      const bool helps = gain > helpful;
      if ((!helps && gain > tie) || (expected > 0 && expected <= helpful)) continue;
      ++clear;
      const bool printed = van_werkhoven_2014::as_printed::second_copy_engine_helps(one.stages, one.chunks);
      printed_right += printed == helps;
      corrected_right += van_werkhoven_2014::second_copy_engine_helps(one.stages, one.chunks) == helps;
      side_by_side += !helps && one.observed / two.observed - 1 > helpful;
      if (printed != helps && std::abs(gain) >= example_gain) {
        example_gain = std::abs(gain);
        example = fmt::format("in {} chunks {} on one engine and {} on two, t_E/n + t_Thd/n = {}, t_Thd = {}",
                              one.chunks, to_string(one.observed), to_string(*two.three_streams),
                              to_string((one.stages.kernel + one.stages.h2d) / one.chunks), to_string(one.stages.h2d));
      }
    }
  }
  if (clear == 0)
    return {"second-engine", Verdict::cannot_be_checked, "",
            "there is no second copy engine to compare with, or it makes no clear difference"};
  Finding f{"second-engine", Verdict::holds,
            fmt::format("with kernels in one stream both times, right in {} of {} cases as printed, in {} with the "
                        "corrected condition",
                        printed_right, clear, corrected_right),
            ""};
  if (side_by_side > 0)
    f.observed +=
        fmt::format("; in {} of those that the engine does not help a stream for each stream is faster than one engine",
                    side_by_side);
  if (printed_right == clear) return f;
  f.verdict = corrected_right == clear ? Verdict::holds_with_a_change : Verdict::does_not_hold;
  f.why = (corrected_right > printed_right ? "turned round the inequality is right more often: "
                                           : "turned round the inequality is right no more often: ") +
          example;
  return f;
}

const CategoryPoint& standing_for(std::span<const CategoryPoint> points, double wanted, bool smallest) {
  const auto above = std::ranges::find_if(points, [&](const CategoryPoint& p) { return p.chunks >= wanted; });
  if (above == points.end()) return points.back();
  if (above == points.begin() || smallest || above->chunks == wanted) return *above;
  const CategoryPoint& below = *std::prev(above);
  return below.observed < above->observed ? below : *above;
}

Finding judge_streams_choice(std::span<const StreamsChoice> choices) {
  const StreamsChoice* worst_choice = nullptr;
  std::size_t without = 0;
  for (const StreamsChoice& c : choices) {
    if (!c.wanted)
      ++without;
    else if (worst_choice == nullptr || c.regret > worst_choice->regret)
      worst_choice = &c;
  }
  if (worst_choice == nullptr)
    return {"number-of-streams", Verdict::cannot_be_checked, "", "no scenario here has a printed rule"};
  Finding f{
      "number-of-streams", Verdict::holds,
      fmt::format("the printed number, or the better one run beside it, costs up to {:.1f} % over the best ({}: {:.1f} "
                  "streams wanted, {} best)",
                  100 * worst_choice->regret, worst_choice->rule, *worst_choice->wanted, worst_choice->best),
      ""};
  if (worst_choice->regret > good_choice) {
    f.verdict = Verdict::does_not_hold;
    f.why = fmt::format("costs more than {:.0f} %", 100 * good_choice);
  } else if (without > 0) {
    f.verdict = Verdict::holds_with_a_change;
    f.why = fmt::format("the paper has no rule for {} of {} scenarios", without, choices.size());
  }
  return f;
}

}  // namespace shiplap::experiments::werkhoven
