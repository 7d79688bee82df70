#include "experiments/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "shiplap/core/units.hpp"

namespace shiplap::experiments {
namespace {

/// The unit of an axis, and the factor from a column's unit to it.
struct BaseUnit {
  std::string_view column;  ///< "ms"
  std::string_view axis;    ///< "s"
  double factor = 1;
};
constexpr std::array base_units{BaseUnit{"s", "s", 1},        BaseUnit{"ms", "s", 1e-3}, BaseUnit{"µs", "s", 1e-6},
                                BaseUnit{"GB/s", "B/s", 1e9}, BaseUnit{"%", "1", 0.01},  BaseUnit{"MiB", "B", 1 << 20}};

/// A column whose unit no axis has, such as "times", keeps its numbers.
BaseUnit base_unit(const std::string& unit) {
  const auto found = std::ranges::find(base_units, unit, &BaseUnit::column);
  return found == base_units.end() ? BaseUnit{} : *found;
}

/// The part of the name that '*' stands for; "" for a name without '*'; nullopt where the name does not match.
std::optional<std::string_view> match(std::string_view name, std::string_view pattern) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern ? std::optional<std::string_view>("") : std::nullopt;
  const std::string_view before = pattern.substr(0, star);
  const std::string_view after = pattern.substr(star + 1);
  if (name.size() < before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after))
    return std::nullopt;
  return name.substr(before.size(), name.size() - before.size() - after.size());
}

/// The whole text as a number, "2^19" included; nullopt for any other text.
std::optional<double> number_in(std::string_view text) {
  const bool is_power = text.starts_with("2^");
  if (is_power) text.remove_prefix(2);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return is_power ? std::exp2(value) : value;
}

bool is_size(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr && text->ends_with('B');
}

/// A cell as abscissa: a number, a text such as "2^19", or a size such as "4 KiB".
std::optional<double> abscissa(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return std::nullopt;
  return is_size(cell) ? in_bytes(parse_bytes(*text, "a size")) : number_in(*text);
}

std::string said_of(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{:.6g}", *number);
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? "" : *text;
}

std::optional<std::size_t> column_of(const Figure& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  if (found == table.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.columns.begin());
}

/// A column of ordinates.
struct Ordinates {
  std::size_t column = 0;
  std::optional<double> number;  ///< the number in its name
};

/// The columns that `Curves::y` names. Those of another unit than the first are left out.
std::vector<Ordinates> ordinates_of(const Curves& curves, const Figure& table) {
  std::vector<Ordinates> all;
  for (const std::string_view pattern : curves.y)
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (const auto text = match(table.columns[c].name, pattern))
        if (all.empty() || table.columns[c].unit == table.columns[all.front().column].unit)
          all.push_back({c, number_in(*text)});
  return all;
}

/// Draws one table.
class Drawing {
 public:
  Drawing(const Curves& curves, const Figure& table)
      : curves_(curves), table_(table), x_(column_of(table, curves.x)), ordinates_(ordinates_of(curves, table)) {}

  document::Plot plot() {
    if ((curves_.x.empty() || x_) && !ordinates_.empty())
      for (const auto& row : table_.rows) add(row);
    const std::string_view title = curves_.title.empty() ? std::string_view(table_.title) : curves_.title;
    return {.title = fmt::format("{}: {}", table_.where, title),
            .x = x_axis(),
            .y = y_axis(),
            .series = std::move(series_)};
  }

 private:
  BaseUnit x_unit() const { return x_ ? base_unit(table_.columns[*x_].unit) : BaseUnit{}; }
  BaseUnit y_unit() const {
    return ordinates_.empty() ? BaseUnit{} : base_unit(table_.columns[ordinates_.front().column].unit);
  }
  document::Axis x_axis() const {
    const bool has_sizes = x_ && !table_.rows.empty() && is_size(table_.rows.front()[*x_]);
    return {.label = std::string(curves_.x_label.empty() ? curves_.x : curves_.x_label),
            .unit = has_sizes ? "B" : std::string(x_unit().axis),
            .logarithmic = curves_.log_x};
  }
  document::Axis y_axis() const {
    return {.label = std::string(curves_.y_label), .unit = std::string(y_unit().axis), .logarithmic = curves_.log_y};
  }

  void add(const std::vector<Cell>& row) {
    for (const Ordinates& ordinates : ordinates_) {
      const std::optional<double> x = x_ ? abscissa(row[*x_]) : ordinates.number;
      const auto* y = std::get_if<double>(&row[ordinates.column]);
      if (!x || y == nullptr || !std::isfinite(*y)) continue;
      series_of(name_of(row, ordinates)).points.push_back({.x = *x * x_unit().factor, .y = *y * y_unit().factor});
    }
  }

  /// "elements 2^19, in 2".
  std::string name_of(const std::vector<Cell>& row, const Ordinates& ordinates) const {
    std::string name;
    const auto append = [&](const std::string& text) { name += (name.empty() ? "" : ", ") + text; };
    for (const std::string_view each : curves_.each)
      if (const auto column = column_of(table_, each)) append(fmt::format("{} {}", each, said_of(row[*column])));
    if (x_) append(table_.columns[ordinates.column].name);
    return name;
  }

  document::Series& series_of(const std::string& name) {
    const auto found = std::ranges::find(series_, name, &document::Series::name);
    if (found != series_.end()) return *found;
    series_.push_back({.name = name, .is_line = name.find("published") == std::string::npos});
    return series_.back();
  }

  const Curves& curves_;
  const Figure& table_;
  std::optional<std::size_t> x_;
  std::vector<Ordinates> ordinates_;
  std::vector<document::Series> series_;
};

}  // namespace

std::vector<document::Plot> plots_of(const Experiment& experiment, const Reproduction& r) {
  std::vector<document::Plot> plots;
  for (const Curves& curves : experiment.curves) {
    const Figure* table = find_figure(r, curves.table);
    if (table == nullptr) continue;
    document::Plot plot = Drawing(curves, *table).plot();
    if (!plot.series.empty()) plots.push_back(std::move(plot));
  }
  return plots;
}

}  // namespace shiplap::experiments
