#include "shiplap/document/figure_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/record.hpp"
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

Json text_json(const std::string& text) { return printable(text, longest_text); }

/// A text that is written printable and not too long.
struct ShortText : Form<std::string> {
  static Json write(const std::string& text) { return text_json(text); }
};
/// A number that is written with as many digits as a picture can show.
struct ShortNumber : Form<double> {
  static Json write(double value) { return short_number(value); }
};
using ShortNumbers = ListOf<double, ShortNumber>;
using ShortNumbersOrNull = ListOf<std::optional<double>, OrNull<double, ShortNumber>>;

/// A unit that the script knows.
struct UnitOfAxis : Form<std::string> {
  static constexpr std::array<std::string_view, 5> units{"s", "B", "B/s", "1", ""};
  static std::string read(const JsonReader& json) {
    std::string unit = json.string();
    if (std::ranges::find(units, unit) == units.end()) json.fail("s, B, B/s, 1 or an empty text");
    return unit;
  }
  static Json schema() { return {{"enum", units}}; }
};

/// A series as files have it, with an array for each part of a point.
struct SeriesInColumns {
  std::string name;
  bool is_line = true;
  std::vector<double> x;
  std::vector<double> y;
  std::vector<std::optional<double>> low;
  std::vector<std::optional<double>> high;
  std::vector<std::string> labels;
  std::string thing;
  std::string dashes;
};

}  // namespace

template <class V, Like<Axis> R>
void describe(V& v, R& axis) {
  v.field("label", axis.label, "what the axis counts", ShortText{});
  v.field("unit", axis.unit, "1: a ratio; empty: a number", UnitOfAxis{});
  v.field("log", axis.logarithmic, "whether the axis is logarithmic at first");
}
template <class V, Like<Limit> R>
void describe(V& v, R& limit) {
  v.field("name", limit.name, "what the line stands for", ShortText{});
  v.field("y", limit.y, "its ordinate", ShortNumber{});
}

namespace {

template <class V, Like<SeriesInColumns> R>
void describe(V& v, R& series) {
  v.field("name", series.name, "name of the series", ShortText{});
  v.field("line", series.is_line, "true: a line joins the points; false: points alone");
  v.field("x", series.x, "abscissas", ShortNumbers{});
  v.field("y", series.y, "ordinates, one for each of x", ShortNumbers{});
  v.only_if(!series.low.empty(), "low", series.low, "low ends of intervals", ShortNumbersOrNull{});
  v.only_if(!series.high.empty(), "high", series.high, "high ends of intervals", ShortNumbersOrNull{});
  v.only_if(!series.labels.empty(), "labels", series.labels, "further words on the points",
            ListOf<std::string, ShortText>{});
  // Colours and dashes are those of the program that draws.
  v.derived_if(!series.thing.empty(), "thing", "what the series is of, for its colour", [&] { return series.thing; });
  v.derived_if(!series.dashes.empty(), "dashes", "lengths of dashes and gaps in px", [&] { return series.dashes; });
}

SeriesInColumns in_columns(const Series& series) {
  SeriesInColumns columns{.name = series.name,
                          .is_line = series.is_line,
                          .x = {},
                          .y = {},
                          .low = {},
                          .high = {},
                          .labels = {},
                          .thing = colour_of(series.thing).empty() ? "" : series.thing,
                          .dashes = series.dashes};
  std::vector<const Point*> points;
  for (const Point& point : series.points) points.push_back(&point);
  if (series.is_line) std::ranges::stable_sort(points, {}, [](const Point* point) { return point->x; });
  const bool has_intervals = std::ranges::any_of(points, [](const Point* point) { return point->low && point->high; });
  const bool has_labels = std::ranges::any_of(points, [](const Point* point) { return !point->label.empty(); });
  for (const Point* point : points) {
    columns.x.push_back(point->x);
    columns.y.push_back(point->y);
    if (has_intervals) columns.low.push_back(point->low);
    if (has_intervals) columns.high.push_back(point->high);
    if (has_labels) columns.labels.push_back(point->label);
  }
  return columns;
}

struct SeriesForm {
  static Json write(const Series& series) { return write_record(in_columns(series)); }
  static Series read(const JsonReader& json) {
    SeriesInColumns columns;
    read_record(json, columns);
    const std::size_t points = columns.x.size();
    if (columns.y.size() != points) json.at("y").fail("a number for each of x");
    for (const auto& [name, size] : {std::pair{"low", columns.low.size()}, std::pair{"high", columns.high.size()},
                                     std::pair{"labels", columns.labels.size()}})
      if (size > 0 && size != points) json.at(name).fail("a value for each of x");
    Series series{.name = columns.name, .is_line = columns.is_line};
    for (std::size_t i = 0; i < points; ++i) {
      Point& point = series.points.emplace_back(Point{.x = columns.x[i], .y = columns.y[i]});
      if (!columns.low.empty()) point.low = columns.low[i];
      if (!columns.high.empty()) point.high = columns.high[i];
      if (!columns.labels.empty()) point.label = columns.labels[i];
    }
    return series;
  }
  static Json schema() { return schema_of<SeriesInColumns>(); }
};

/// Limits without those that are no number.
struct FiniteLimits : ListOf<Limit> {
  static Json write(std::vector<Limit> limits) {
    std::erase_if(limits, [](const Limit& limit) { return !std::isfinite(limit.y); });
    return ListOf<Limit>{}.write(limits);
  }
};

}  // namespace

template <class V, Like<Plot> R>
void describe(V& v, R& plot) {
  v.constant("kind", "plot");
  v.field("title", plot.title, "title of the plot", ShortText{});
  v.field("x", plot.x, "axis of the abscissas");
  v.field("y", plot.y, "axis of the ordinates");
  v.field("series", plot.series, "points and curves", ListOf<Series, SeriesForm>{});
  v.field("limits", plot.limits, "horizontal lines", FiniteLimits{});
  v.field("diagonal", plot.has_diagonal, "whether the line y = x is drawn");
}

namespace {

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
  Json json{{"kind", "map"},
            {"title", text_json(map.title)},
            {"x", write_record(map.x)},
            {"y", write_record(map.y)},
            {"strategies", Json::array()},
            {"xs", Json::array()},
            {"ys", Json::array()},
            {"cells", Json::array()},
            {"marks", Json::array()}};
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

Json to_json(const Table& table) { throw Error(fmt::format("the table \"{}\" is HTML", table.title)); }

}  // namespace

Json to_json(const Figure& figure) {
  return std::visit([](const auto& one) { return to_json(one); }, figure);
}

Json to_json(const Plot& plot) { return write_record(plot); }
void from_json(const JsonReader& json, Plot& plot) { read_record(json, plot); }
Json json_schema(const Plot&) { return schema_of<Plot>(); }

}  // namespace shiplap::document
