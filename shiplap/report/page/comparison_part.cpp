#include <fmt/format.h>

#include <algorithm>

#include "shiplap/report/page/quantity.hpp"
#include "shiplap/report/page/sections.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap::page {
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
  for (const Change change : {Change::degraded, Change::better, Change::unclear, Change::same}) {
    Series series{.name = to_string(change), .is_line = false};
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

DataTable table_of(const Rows& rows) {
  DataTable table{.title = "All figures",
                  .columns = {"figure", "baseline", "now", "time now over the baseline's", "change"},
                  .units = {"", "s", "s", "1"}};
  for (const ComparedFigure& row : rows) {
    Cell change(to_string(row.change));
    change.judgement = row.change == Change::degraded ? "bad" : row.change == Change::better ? "good" : "";
    table.rows.push_back({name_of(row.now), time_cell(row.baseline.time), time_cell(row.now.time),
                          has_ratio(row) ? change_cell(row.slower.value) : Cell("–"), std::move(change)});
  }
  return table;
}

}  // namespace

Part comparison_part(const Comparison& comparison, const std::string& source) {
  Part part{.section = {.title = "Comparison with a baseline", .source = source}};
  Rows rows = comparison.figures;
  std::ranges::stable_sort(rows, std::greater<>{}, [](const ComparedFigure& row) { return row.slower.value; });
  std::string summary =
      fmt::format("{} figures beside the baseline: {} slower, {} faster, {} with an interval that is too wide to tell.",
                  rows.size(), comparison.count(Change::degraded), comparison.count(Change::better),
                  comparison.count(Change::unclear));
  if (const auto slowest = std::ranges::find(rows, Change::degraded, &ComparedFigure::change);
      slowest != rows.end() && has_ratio(*slowest))
    summary += fmt::format(" The slowest is \"{}\": {} of its time.", name_of(slowest->now),
                           signed_percent(slowest->slower.value - 1));
  if (const std::size_t vanished = comparison.only_in_baseline.size(); vanished > 0)
    summary += fmt::format(" {} figures of the baseline were not measured now.", vanished);
  if (comparison.baseline_simulated || comparison.now_simulated)
    summary += " At least one of the two was measured on a simulated device: this says nothing about hardware.";
  if (const std::size_t lost = comparison.failed.size(); lost > 0)
    summary = fmt::format("WRONG BYTES in {} points. {}", lost, summary);
  part.summary.push_back(summary);
  part.section.sentences.push_back(summary);
  if (!comparison.failed.empty())
    part.section.sentences.push_back(fmt::format("In {} points bytes did not arrive as they were sent. The first: {}.",
                                                 comparison.failed.size(), comparison.failed.front()));
  part.section.figures.emplace_back(changes(rows));
  part.section.figures.emplace_back(table_of(rows));
  DataTable missing{.title = "Figures of one of the two only", .columns = {"figure", "measured"}};
  for (const std::string& name : comparison.only_in_baseline) missing.rows.push_back({name, "in the baseline only"});
  for (const std::string& name : comparison.only_now) missing.rows.push_back({name, "now only"});
  if (!missing.rows.empty()) part.section.figures.emplace_back(std::move(missing));
  DataTable conditions{.title = "Conditions that differ", .columns = {"condition", "baseline", "now"}};
  for (const Comparison::Condition& one : comparison.conditions)
    conditions.rows.push_back({one.name, one.baseline, one.now});
  if (!conditions.rows.empty()) part.section.figures.emplace_back(std::move(conditions));
  return part;
}

}  // namespace shiplap::page
