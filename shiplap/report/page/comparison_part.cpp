#include <fmt/format.h>

#include <algorithm>

#include "shiplap/report/page/quantity.hpp"
#include "shiplap/report/page/sections.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap::page {
namespace {

struct ChangedFigure {
  std::string name;
  std::string change;
  Quantity baseline;
  Quantity now;
  std::optional<Quantity> slower{};  ///< time now over time of the baseline
};

std::vector<ChangedFigure> rows_of(const JsonReader& figures) {
  std::vector<ChangedFigure> rows;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const JsonReader figure = figures.at(i);
    ChangedFigure row{.name = figure.at("name").string(),
                      .change = figure.at("change").string(),
                      .baseline = quantity_of(figure.at("baseline")),
                      .now = quantity_of(figure.at("now"))};
    if (const auto slower = figure.find("slower")) row.slower = quantity_of(*slower);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater<>{},
                           [](const ChangedFigure& row) { return row.slower ? row.slower->value : 0; });
  return rows;
}

Plot changes(const std::vector<ChangedFigure>& rows) {
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
  for (const char* change : {"degraded", "better", "unclear", "same"}) {
    Series series{.name = change, .is_line = false};
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].change == change && rows[i].slower)
        series.points.push_back({.x = static_cast<double>(i + 1),
                                 .y = rows[i].slower->value,
                                 .low = rows[i].slower->low,
                                 .high = rows[i].slower->high,
                                 .label = rows[i].name});
    if (!series.points.empty()) plot.series.push_back(std::move(series));
  }
  return plot;
}

DataTable table_of(const std::vector<ChangedFigure>& rows) {
  DataTable table{.title = "All figures",
                  .columns = {"figure", "baseline", "now", "time now over the baseline's", "change"},
                  .units = {"", "s", "s", "1"}};
  for (const ChangedFigure& row : rows) {
    Cell change(row.change);
    change.judgement = row.change == "degraded" ? "bad" : row.change == "better" ? "good" : "";
    table.rows.push_back({row.name, time_cell(row.baseline), time_cell(row.now),
                          row.slower ? change_cell(row.slower->value) : Cell("–"), std::move(change)});
  }
  return table;
}

}  // namespace

Part comparison_part(const JsonReader& json, const std::string& source) {
  Part part{.section = {.title = "Comparison with a baseline", .source = source}};
  const std::vector<ChangedFigure> rows = rows_of(json.at("figures"));
  const auto count = [&](const char* change) { return std::ranges::count(rows, change, &ChangedFigure::change); };
  std::string summary =
      fmt::format("{} figures beside the baseline: {} slower, {} faster, {} with an interval that is too wide to tell.",
                  rows.size(), count("degraded"), count("better"), count("unclear"));
  if (const auto slowest = std::ranges::find(rows, "degraded", &ChangedFigure::change);
      slowest != rows.end() && slowest->slower)
    summary += fmt::format(" The slowest is \"{}\": {} of its time.", slowest->name,
                           signed_percent(slowest->slower->value - 1));
  const std::size_t vanished = json.at("only_in_baseline").size();
  if (vanished > 0) summary += fmt::format(" {} figures of the baseline were not measured now.", vanished);
  if (json.at("baseline_simulated").boolean() || json.at("now_simulated").boolean())
    summary += " At least one of the two was measured on a simulated device: this says nothing about hardware.";
  if (const std::size_t lost = json.at("failed").size(); lost > 0)
    summary = fmt::format("WRONG BYTES in {} points. {}", lost, summary);
  part.summary.push_back(summary);
  part.section.sentences.push_back(summary);
  if (const JsonReader failed = json.at("failed"); failed.size() > 0)
    part.section.sentences.push_back(fmt::format("In {} points bytes did not arrive as they were sent. The first: {}.",
                                                 failed.size(), failed.at(std::size_t{0}).string()));
  part.section.figures.emplace_back(changes(rows));
  part.section.figures.emplace_back(table_of(rows));
  DataTable missing{.title = "Figures of one of the two only", .columns = {"figure", "measured"}};
  for (const auto& [key, when] : {std::pair{"only_in_baseline", "in the baseline only"}, {"only_now", "now only"}}) {
    const JsonReader names = json.at(key);
    for (std::size_t i = 0; i < names.size(); ++i) missing.rows.push_back({names.at(i).string(), when});
  }
  if (!missing.rows.empty()) part.section.figures.emplace_back(std::move(missing));
  DataTable conditions{.title = "Conditions that differ", .columns = {"condition", "baseline", "now"}};
  const JsonReader differing = json.at("conditions");
  for (std::size_t i = 0; i < differing.size(); ++i)
    conditions.rows.push_back({differing.at(i).at("name").string(), differing.at(i).at("baseline").string(),
                               differing.at(i).at("now").string()});
  if (!conditions.rows.empty()) part.section.figures.emplace_back(std::move(conditions));
  return part;
}

}  // namespace shiplap::page
