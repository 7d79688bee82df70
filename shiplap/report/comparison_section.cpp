#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "shiplap/document/table.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

using Rows = std::vector<ComparedFigure>;

/// Whether the figure has a ratio: a baseline of 0 has none.
bool has_ratio(const ComparedFigure& row) { return row.slower.value > 0; }

Plot changes(const Rows& rows) {
  Plot plot{
      .title = "Time now over time of the baseline",
      .note =
          "Each point is a figure, the slowest first. Bars are 95 % intervals; above 100 % is slower. A figure is "
          "degraded "
          "when both its interval and its fastest samples are beyond the tolerance: 5 % unless `compare` was told "
          "otherwise, and more for figures that vary between runs.",
      .x = {.label = "figure, slowest first", .unit = ""},
      .y = {.label = "time now", .unit = "1", .logarithmic = true},
      .limits = {{.name = "as before", .y = 1}}};
  for (const auto& [change, thing] : {std::pair{Change::degraded, "bad"}, std::pair{Change::better, "good"},
                                      std::pair{Change::unclear, "warn"}, std::pair{Change::same, "same"}}) {
    Series series{.name = to_string(change), .is_line = false, .thing = thing};
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].change == change && has_ratio(rows[i]))
        series.points.push_back({.x = static_cast<double>(i + 1),
                                 .y = rows[i].slower.value,
                                 .low = rows[i].slower.low,
                                 .high = rows[i].slower.high,
                                 .label = name_of(rows[i].now)});
    if (!series.points.empty()) plot.series.push_back(std::move(series));
  }
  return plot;
}

/// A bandwidth for a figure that moves at least 64 KiB, else a time.
Cell figure_cell(const shiplap::Figure& figure) {
  constexpr Bytes enough = 64_KiB;
  if (!figure.bytes || *figure.bytes < enough || !(figure.time.low > Seconds{0})) return time_cell(figure.time);
  const Bytes bytes = *figure.bytes;
  return {
      with_interval(Interval<Bandwidth>{bytes / figure.time.value, bytes / figure.time.high, bytes / figure.time.low}),
      figure.time.value.count()};
}

/// The same without the interval.
Cell value_cell(const shiplap::Figure& figure) {
  shiplap::Figure exact = figure;
  exact.time = Interval<Seconds>::exact(figure.time.value);
  return figure_cell(exact);
}

Table table_of(std::string title, const Rows& rows) {
  Table table{.title = std::move(title),
              .columns = {{"figure", Align::left},
                          {"baseline", Align::right, "s"},
                          {"now", Align::right, "s"},
                          {"time", Align::right, "1"},
                          {"", Align::left}}};
  for (const ComparedFigure& row : rows)
    table.add({name_of(row.now), figure_cell(row.baseline), figure_cell(row.now),
               has_ratio(row) && std::isfinite(row.slower.high) ? change_cell(row.slower.value) : Cell("–"),
               Cell(to_string(row.change), row.change == Change::degraded ? Judgement::bad
                                           : row.change == Change::better ? Judgement::good
                                                                          : Judgement::none)});
  return table;
}

/// "3 figures only now: a; b; c", with the first names.
std::string listed(std::string_view what, const std::vector<std::string>& names) {
  constexpr std::size_t most = 6;
  const std::size_t shown = std::min(names.size(), most);
  std::string text =
      fmt::format("{} {}: {}", names.size(), what, fmt::join(names.begin(), names.begin() + shown, "; "));
  if (shown < names.size()) text += fmt::format("; and {} more", names.size() - shown);
  return text + ".";
}

/// The figures of a primitive that changed alike.
struct ChangedPrimitive {
  const ComparedFigure* most = nullptr;  ///< the one that changed most
  std::size_t figures = 0;
};

/// Primitives whose figures changed, of `changed` with the slowest figure first: the slower ones by their slowest
/// figure, then the faster ones by their fastest.
std::vector<ChangedPrimitive> changed_primitives(const Rows& changed) {
  std::vector<ChangedPrimitive> all;
  const auto count = [&](const ComparedFigure& row) {
    const auto same = std::ranges::find_if(all, [&](const ChangedPrimitive& one) {
      return one.most->now.primitive == row.now.primitive && one.most->change == row.change;
    });
    if (same == all.end())
      all.push_back({&row, 1});
    else
      ++same->figures;
  };
  for (const ComparedFigure& row : changed)
    if (row.change == Change::degraded) count(row);
  for (auto row = changed.rbegin(); row != changed.rend(); ++row)
    if (row->change == Change::better) count(*row);
  return all;
}

/// The primitives that changed, of at most a screen, and the conditions that differ.
Table most_changed(const Rows& changed, const std::vector<Comparison::Condition>& conditions) {
  constexpr std::size_t most = 10;
  Table table{.title = "Primitives that changed, with the figure that changed most",
              .columns = {{"primitive", Align::left},
                          {"figures", Align::right},
                          {"baseline", Align::right, "s"},
                          {"now", Align::right, "s"},
                          {"time", Align::right, "1"}}};
  const std::vector<ChangedPrimitive> all = changed_primitives(changed);
  for (const ChangedPrimitive& one : all) {
    if (table.rows.size() == most) break;
    table.add({one.most->now.primitive, count_cell(one.figures), value_cell(one.most->baseline),
               value_cell(one.most->now), has_ratio(*one.most) ? change_cell(one.most->slower.value) : Cell("–")});
  }
  if (all.size() > most) table.notes.push_back(fmt::format("{} more primitives changed.", all.size() - most));
  std::vector<std::string> differing;
  for (const Comparison::Condition& one : conditions)
    differing.push_back(fmt::format("{} ({}, now {})", one.name, one.baseline, one.now));
  if (!differing.empty())
    table.notes.push_back(listed(differing.size() == 1 ? "condition differs" : "conditions differ", differing));
  return table;
}

/// A word of warning where the profiles are of different GPUs; "" where they are not.
std::string difference_of_gpus(const Comparison& comparison) {
  const auto name = std::ranges::find(comparison.conditions, "gpu.name", &Comparison::Condition::name);
  if (name == comparison.conditions.end()) return "";
  return fmt::format(
      "The profiles are of different GPUs ({}, now {}): this says how they differ, not whether one is ill.",
      name->baseline, name->now);
}

/// On which side a virtual device was measured; "" when none was.
std::string simulation_of(const Comparison& comparison) {
  if (!comparison.baseline_simulated && !comparison.now_simulated) return "";
  return fmt::format("{} measured on a simulated device: the comparison says nothing about the hardware.",
                     !comparison.now_simulated        ? "The baseline was"
                     : !comparison.baseline_simulated ? "The profile to judge was"
                                                      : "Both profiles were");
}

}  // namespace

Section comparison_section(const Comparison& comparison, const std::string& source) {
  Section section{.title = "Comparison with a baseline", .source = source};
  Rows rows = comparison.figures;
  std::ranges::stable_sort(rows, std::greater<>{}, [](const ComparedFigure& row) { return row.slower.value; });
  const auto degraded = comparison.count(Change::degraded);
  const bool is_unclear = comparison.count(Change::unclear) == rows.size();
  const std::string slower = fmt::format("{} of {}", degraded, rows.size());
  Headline headline{
      .verdict = comparison.degraded() ? "DEGRADED"
                 : is_unclear          ? "UNCLEAR"
                                       : "NOT DEGRADED",
      .judgement = comparison.degraded() ? Judgement::bad
                   : is_unclear          ? Judgement::warn
                                         : Judgement::good,
      .numbers = {{slower, "figures slower"}, {std::to_string(comparison.count(Change::better)), "figures faster"}}};
  headline.sentence =
      fmt::format("{}: {} figures slower, {} faster, {} the same, {} unclear (their intervals are too wide to tell).",
                  headline.verdict, slower, comparison.count(Change::better), comparison.count(Change::same),
                  comparison.count(Change::unclear));
  if (const auto slowest = std::ranges::find(rows, Change::degraded, &ComparedFigure::change);
      slowest != rows.end() && has_ratio(*slowest)) {
    const std::string change = signed_percent(slowest->slower.value - 1);
    headline.sentence += fmt::format(" The slowest is \"{}\": {} of its time.", name_of(slowest->now), change);
    headline.numbers.push_back({change, fmt::format("time of {}", name_of(slowest->now))});
  }
  if (!comparison.failed.empty()) {
    headline.sentence += fmt::format(" WRONG BYTES in {} points.", comparison.failed.size());
    headline.numbers.push_back({std::to_string(comparison.failed.size()), "points with wrong bytes"});
  }
  section.headlines.push_back(std::move(headline));
  for (const std::string& warning : {difference_of_gpus(comparison), simulation_of(comparison)})
    if (!warning.empty()) section.sentences.push_back(warning);
  for (const auto& [what, names] :
       {std::pair{"failed, bytes did not arrive", &comparison.failed},
        std::pair{"only in the baseline", &comparison.only_in_baseline}, std::pair{"only now", &comparison.only_now}})
    if (!names->empty()) section.sentences.push_back(listed(what, *names));
  Rows changed = rows;
  std::erase_if(changed, [](const ComparedFigure& row) {
    return row.change != Change::degraded && row.change != Change::better;
  });
  section.brief.emplace_back(most_changed(changed, comparison.conditions));
  section.figures.emplace_back(table_of("Changed figures", changed));
  section.figures.emplace_back(changes(rows));
  Table conditions{.title = "Conditions that differ", .columns = {{"condition"}, {"baseline"}, {"now"}}};
  for (const Comparison::Condition& one : comparison.conditions) conditions.add({one.name, one.baseline, one.now});
  section.figures.emplace_back(std::move(conditions));
  section.details.emplace_back(table_of("All figures", comparison.figures));
  return section;
}

}  // namespace shiplap::document
