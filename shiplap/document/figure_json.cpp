#include "shiplap/document/figure_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/document/colours.hpp"

namespace shiplap::document {
namespace {

/// The number with as many digits as a picture can show; null for what is no number.
Json short_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  const std::string text = fmt::format("{:.7g}", value);
  double shortened = value;
  std::from_chars(text.data(), text.data() + text.size(), shortened);  // strtod would depend on the locale
  return shortened;
}

Json short_number(const std::optional<double>& value) { return value ? short_number(*value) : Json(nullptr); }

Json text_json(const std::string& text) { return printable(text, longest_text); }

Json to_json(const Axis& axis) {
  return {{"label", text_json(axis.label)}, {"unit", axis.unit}, {"log", axis.logarithmic}};
}

Json to_json(const Series& series) {
  std::vector<const Point*> points;
  for (const Point& point : series.points) points.push_back(&point);
  if (series.is_line) std::ranges::stable_sort(points, {}, [](const Point* point) { return point->x; });
  Json json{{"name", text_json(series.name)}, {"line", series.is_line}, {"x", Json::array()}, {"y", Json::array()}};
  for (const Point* point : points) {
    json["x"].push_back(short_number(point->x));
    json["y"].push_back(short_number(point->y));
  }
  if (std::ranges::any_of(points, [](const Point* point) { return point->low && point->high; }))
    for (const Point* point : points) {
      json["low"].push_back(short_number(point->low));
      json["high"].push_back(short_number(point->high));
    }
  if (std::ranges::any_of(points, [](const Point* point) { return !point->label.empty(); }))
    for (const Point* point : points) json["labels"].push_back(text_json(point->label));
  if (!colour_of(series.thing).empty()) json["thing"] = series.thing;
  if (!series.dashes.empty()) json["dashes"] = series.dashes;
  return json;
}

Json to_json(const Plot& plot) {
  Json json{{"kind", "plot"},
            {"title", text_json(plot.title)},
            {"x", to_json(plot.x)},
            {"y", to_json(plot.y)},
            {"series", Json::array()},
            {"limits", Json::array()},
            {"diagonal", plot.has_diagonal}};
  for (const Series& series : plot.series) json["series"].push_back(to_json(series));
  for (const Limit& limit : plot.limits)
    if (std::isfinite(limit.y))
      json["limits"].push_back({{"name", text_json(limit.name)}, {"y", short_number(limit.y)}});
  return json;
}

Json to_json(const Row& row) {
  Json bars = Json::array();
  for (const Bar& bar : row.bars)
    bars.push_back({text_json(bar.name), short_number(bar.start), short_number(bar.end), bar.lane, bar.chunk});
  return {{"label", text_json(row.label)},
          {"detail", text_json(row.detail)},
          {"lanes", row.lanes},
          {"thing", row.thing},
          {"bars", std::move(bars)}};
}

Json to_json(const TimelinePlot& plot) {
  Json json{{"kind", "timeline"}, {"title", text_json(plot.title)}, {"panels", Json::array()}};
  for (const Panel& panel : plot.panels) {
    Json rows = Json::array();
    for (const Row& row : panel.rows) rows.push_back(to_json(row));
    json["panels"].push_back({{"label", text_json(panel.label)}, {"rows", std::move(rows)}});
  }
  return json;
}

Json to_json(const MapPlot& map) {
  Json json{{"kind", "map"},       {"title", text_json(map.title)}, {"x", to_json(map.x)},
            {"y", to_json(map.y)}, {"strategies", Json::array()},   {"xs", Json::array()},
            {"ys", Json::array()}, {"cells", Json::array()},        {"marks", Json::array()}};
  for (const std::string& strategy : map.strategies) json["strategies"].push_back(text_json(strategy));
  for (const double x : map.xs) json["xs"].push_back(short_number(x));
  for (const double y : map.ys) json["ys"].push_back(short_number(y));
  for (const std::vector<MapTime>& times : map.cells) {
    Json cell = Json::array();
    for (const MapTime& time : times)
      cell.push_back({time.strategy, text_json(time.choice), short_number(time.time), short_number(time.low),
                      short_number(time.high)});
    json["cells"].push_back(std::move(cell));
  }
  for (const Mark& mark : map.marks)
    json["marks"].push_back({{"name", text_json(mark.name)}, {"x", short_number(mark.x)}, {"y", short_number(mark.y)}});
  return json;
}

Axis axis_from_json(const JsonReader& json) {
  constexpr std::array<std::string_view, 5> units{"s", "B", "B/s", "1", ""};
  if (std::ranges::find(units, json.at("unit").string()) == units.end())
    json.at("unit").fail("s, B, B/s, 1 or an empty text");
  return {
      .label = json.at("label").string(), .unit = json.at("unit").string(), .logarithmic = json.at("log").boolean()};
}

Series series_from_json(const JsonReader& json) {
  Series series{.name = json.at("name").string(), .is_line = json.at("line").boolean()};
  const JsonReader xs = json.at("x");
  const JsonReader ys = json.at("y");
  if (xs.size() != ys.size()) ys.fail("a number for each of x");
  const std::optional<JsonReader> lows = json.find("low");
  const std::optional<JsonReader> highs = json.find("high");
  const std::optional<JsonReader> labels = json.find("labels");
  for (std::size_t i = 0; i < xs.size(); ++i) {
    Point point{.x = xs.at(i).number(), .y = ys.at(i).number()};
    if (lows && !lows->at(i).value().is_null()) point.low = lows->at(i).number();
    if (highs && !highs->at(i).value().is_null()) point.high = highs->at(i).number();
    if (labels) point.label = labels->at(i).string();
    series.points.push_back(std::move(point));
  }
  return series;
}

Json to_json(const Table& table) { throw Error(fmt::format("the table \"{}\" is HTML", table.title)); }

}  // namespace

Json to_json(const Figure& figure) {
  return std::visit([](const auto& one) { return to_json(one); }, figure);
}

Plot plot_from_json(const JsonReader& json) {
  if (json.at("kind").string() != "plot") json.at("kind").fail("\"plot\"");
  Plot plot{.title = json.at("title").string(),
            .x = axis_from_json(json.at("x")),
            .y = axis_from_json(json.at("y")),
            .has_diagonal = json.at("diagonal").boolean()};
  const JsonReader series = json.at("series");
  for (std::size_t i = 0; i < series.size(); ++i) plot.series.push_back(series_from_json(series.at(i)));
  const JsonReader limits = json.at("limits");
  for (std::size_t i = 0; i < limits.size(); ++i)
    plot.limits.push_back({.name = limits.at(i).at("name").string(), .y = limits.at(i).at("y").number()});
  return plot;
}

}  // namespace shiplap::document
