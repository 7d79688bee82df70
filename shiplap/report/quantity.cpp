#include "shiplap/report/quantity.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "shiplap/core/units.hpp"
#include "shiplap/document/table.hpp"

namespace shiplap::document {
namespace {

struct UnitScale {
  std::string_view unit;
  double scale;
};
constexpr std::array unit_scales{UnitScale{"s", 1},       UnitScale{"ms", 1e-3},  UnitScale{"us", 1e-6},
                                 UnitScale{"B", 1},       UnitScale{"GB/s", 1e9}, UnitScale{"1", 1},
                                 UnitScale{"items/s", 1}, UnitScale{"B/s", 1}};

double scale_of(const JsonReader& json) {
  const std::string unit = json.at("unit").string();
  for (const UnitScale& known : unit_scales)
    if (known.unit == unit) return known.scale;
  json.at("unit").fail("a unit of time, size, rate, or \"1\"");
}

}  // namespace

Quantity quantity_of(const JsonReader& json) {
  const double scale = scale_of(json);
  Quantity quantity{.value = json.at("value").number() * scale};
  if (const auto low = json.find("low")) quantity.low = low->number() * scale;
  if (const auto high = json.find("high")) quantity.high = high->number() * scale;
  return quantity;
}

Quantity positive_quantity_of(const JsonReader& json) {
  json.at("value").positive();
  return quantity_of(json);
}

std::vector<double> values_of(const JsonReader& json) {
  const double scale = scale_of(json);
  const JsonReader values = json.at("values");
  std::vector<double> all;
  for (std::size_t i = 0; i < values.size(); ++i) all.push_back(values.at(i).number() * scale);
  return all;
}

Cell time_cell(const Quantity& time) {
  const bool has_interval = time.low && time.high && *time.high > *time.low;
  return {has_interval ? with_interval(Interval<Seconds>{Seconds{time.value}, Seconds{*time.low}, Seconds{*time.high}})
                       : to_string(Seconds{time.value}),
          time.value};
}

Cell time_cell(const Interval<Seconds>& time) {
  return time_cell({time.value.count(), time.low.count(), time.high.count()});
}

Cell change_cell(double ratio) { return {signed_percent(ratio - 1), ratio}; }

Cell percent_cell(double fraction) { return {percent(fraction), fraction}; }

Cell count_cell(std::uint64_t count) { return {std::to_string(count), static_cast<double>(count)}; }

}  // namespace shiplap::document
