#include "shiplap/measure/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/measure/primitive_family.hpp"

namespace shiplap {
namespace {

/// The ratio now / baseline. When the baseline may be 0, the interval has no upper end.
Estimate ratio(const Interval<Seconds>& now, const Interval<Seconds>& baseline) {
  if (!(baseline.value > Seconds{0}) || !(now.value > Seconds{0})) return {1, 0, HUGE_VAL};
  const double value = now.value / baseline.value;
  const auto relative = [](Seconds part, Seconds whole) { return part / whole; };
  const double below =
      std::hypot(relative(now.value - now.low, now.value), relative(baseline.high - baseline.value, baseline.value));
  const double above =
      std::hypot(relative(now.high - now.value, now.value), relative(baseline.value - baseline.low, baseline.value));
  return {value, std::max(0.0, value * (1 - below)), value * (1 + above)};
}

/// The relative difference between two runs of a sound node (`PrimitiveFamily::between_runs`). It is larger
/// for small copies and for what the host's clock measures, because these take a few microseconds.
double between_runs(const Figure& figure) {
  constexpr Bytes small_copy = 64_KiB;
  constexpr double of_few_microseconds = 0.25;
  const double share =
      figure.clock == "host" || (figure.bytes && *figure.bytes <= small_copy) ? of_few_microseconds : 0;
  const PrimitiveFamily* const family = family_of(figure.primitive);
  return family == nullptr ? share : std::max(share, family->between_runs);
}

/// `fastest` is the time of the fast samples now over the figure of the baseline.
Change change_of(const Estimate& slower, double fastest, double tolerance) {
  if (slower.low > 1 + tolerance) return fastest > 1 + tolerance ? Change::degraded : Change::unclear;
  if (slower.high < 1 / (1 + tolerance)) return Change::better;
  if (slower.value > 1 + tolerance || slower.value < 1 / (1 + tolerance)) return Change::unclear;
  // An interval that reaches this far could hide a change larger than the tolerance.
  return slower.high > (1 + tolerance) * (1 + tolerance) ? Change::unclear : Change::same;
}

/// Points with at least one measurement that was not verified.
std::set<std::string> failed_points(const Profile& profile) {
  std::set<std::string> names;
  for (const Measurement& m : profile.measurements) {
    if (m.verified) continue;
    Figure unverified{.primitive = m.primitive, .arguments = m.arguments, .time = {}};
    names.insert(name_of(unverified));
  }
  return names;
}

/// Conditions that differ from run to run and are not compared.
constexpr std::array passing{"gpu.temperature", "gpu.power"};

std::vector<Comparison::Condition> differing(const Conditions& baseline, const Conditions& now) {
  std::set<std::string> names;
  for (const auto& [name, value] : baseline) names.insert(name);
  for (const auto& [name, value] : now) names.insert(name);
  std::vector<Comparison::Condition> result;
  for (const std::string& name : names)
    if (std::ranges::find(passing, name) == passing.end() && condition(baseline, name) != condition(now, name))
      result.push_back({name, condition(baseline, name), condition(now, name)});
  return result;
}

constexpr std::array change_names{std::pair{Change::same, "same"sv}, std::pair{Change::better, "better"sv},
                                  std::pair{Change::degraded, "degraded"sv}, std::pair{Change::unclear, "unclear"sv}};

}  // namespace

EnumNames<Change> names_of(Change) { return change_names; }
std::string to_string(Change change) { return std::string(enum_name(change)); }

std::size_t Comparison::count(Change change) const {
  return static_cast<std::size_t>(std::ranges::count(figures, change, &ComparedFigure::change));
}

bool Comparison::degraded() const { return count(Change::degraded) > 0 || !failed.empty(); }

Comparison compare(const Profile& baseline, const Profile& now, double tolerance) {
  if (!(tolerance >= 0) || !std::isfinite(tolerance)) throw UsageError("`tolerance`: must be at least 0 %, as in 5%");
  Comparison result;
  const bool by_points = !baseline.measurements.empty() && !now.measurements.empty();
  const std::vector<Figure> before = by_points ? figures(baseline.measurements) : parameter_figures(baseline);
  const std::vector<Figure> after = by_points ? figures(now.measurements) : parameter_figures(now);
  const auto like = [](const std::vector<Figure>& all, const Figure& wanted) {
    return std::ranges::find_if(all, [&](const Figure& f) {
      return f.primitive == wanted.primitive && f.arguments == wanted.arguments && f.counts == wanted.counts;
    });
  };
  for (const Figure& figure : before) {
    const auto found = like(after, figure);
    if (found == after.end()) {
      result.only_in_baseline.push_back(name_of(figure));
      continue;
    }
    const Estimate slower = ratio(found->time, figure.time);
    const double fastest = figure.time.value > Seconds{0} ? found->fast / figure.time.value : HUGE_VAL;
    result.figures.push_back(
        {figure, *found, slower, change_of(slower, fastest, std::max(tolerance, between_runs(figure)))});
  }
  for (const Figure& figure : after)
    if (like(before, figure) == before.end()) result.only_now.push_back(name_of(figure));

  const std::set<std::string> failed_before = failed_points(baseline);
  for (const std::string& point : failed_points(now))
    if (!failed_before.contains(point)) result.failed.push_back(point);
  result.conditions = differing(baseline.conditions, now.conditions);
  result.baseline_simulated = baseline.origin == Origin::simulated;
  result.now_simulated = now.origin == Origin::simulated;
  if (result.figures.empty() && result.failed.empty()) {
    for (const Profile* profile : {&baseline, &now})
      if (profile->measurements.empty())
        throw Error(fmt::format(
            "profile {} is {} and has parameters, but no measured points, so there are no times to compare; compare "
            "profiles that `shiplap measure -o` wrote, or see its parameters with `shiplap profiles show`",
            profile->name, to_string(profile->origin)));
    throw Error(fmt::format("{} and {} have no figure in common: compare two profiles that `shiplap measure` wrote",
                            baseline.name, now.name));
  }
  return result;
}

template <class V, Like<ComparedFigure> R>
void describe(V& v, R& row) {
  v.derived("name", "the figure for people", [&] { return name_of(row.now); });
  v.field("primitive", row.now.primitive, "what was measured");
  v.field("arguments", row.now.arguments, "the point of the primitive");
  v.field("change", row.change, "what became of it");
  v.field("baseline", row.baseline.time, "time of the baseline");
  v.field("now", row.now.time, "time now");
  // JSON has no infinity, which is the upper end for a baseline of 0.
  v.only_if(std::isfinite(row.slower.high), "slower", row.slower, "time now over time of the baseline",
            EstimateInUnit{"1"});
}
template <class V, Like<Comparison::Condition> R>
void describe(V& v, R& condition) {
  v.field("name", condition.name, "name of the condition");
  v.field("baseline", condition.baseline, "in the baseline");
  v.field("now", condition.now, "now");
}
template <class V, Like<Comparison> R>
void describe(V& v, R& comparison) {
  v.header(formats::comparison);
  v.derived("degraded", "whether any figure is worse or any point failed", [&] { return comparison.degraded(); });
  v.field("figures", comparison.figures, "figures that both profiles have");
  v.field("failed", comparison.failed, "points of the baseline whose bytes were wrong now");
  v.field("only_in_baseline", comparison.only_in_baseline, "figures that were not measured now");
  v.field("only_now", comparison.only_now, "figures that the baseline lacks");
  v.field("conditions", comparison.conditions, "conditions that differ");
  v.field("baseline_simulated", comparison.baseline_simulated, "whether the baseline is of a virtual device");
  v.field("now_simulated", comparison.now_simulated, "whether the profile that is judged is of a virtual device");
}

Json to_json(const Comparison& comparison) { return write_record(comparison); }
void from_json(const JsonReader& json, Comparison& comparison) {
  read_record(json, comparison);
  for (ComparedFigure& row : comparison.figures) {
    row.baseline.primitive = row.now.primitive;
    row.baseline.arguments = row.now.arguments;
  }
}
Json json_schema(const Comparison&) {
  return document_schema<Comparison>("shiplap comparison",
                                     "What became slower or faster than a baseline, as `shiplap compare --json` says.");
}

}  // namespace shiplap
