// Reading and writing parameters in profile files: a number in a stated unit with its 95 % interval.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// The unit of a kind of parameter in files, and its physical range in that unit: what is outside is no figure of any
/// node, and would make times that a double cannot hold or add. A number in a file times `scale` is the value in SI
/// units.
template <class T>
struct Quantity {
  std::string_view unit;
  double scale;
  double least;  ///< smallest number in files; 0: the parameter may be zero
  double most;   ///< largest number in files
  constexpr bool may_be_zero() const { return least == 0; }
};
inline constexpr Quantity<Seconds> time_quantity{"us", 1e-6, 0, 1e12};
inline constexpr Quantity<PerByte> per_byte_quantity{"ns/byte", 1e-9, 1e-9, 1e9};
inline constexpr Quantity<PerByte> added_per_byte_quantity{"ns/byte", 1e-9, 0, 1e9};
inline constexpr Quantity<Bandwidth> bandwidth_quantity{"GB/s", 1e9, 1e-9, 1e9};
inline constexpr Quantity<double> fraction_quantity{"1", 1, 0, 1e6};
inline constexpr Quantity<double> threads_quantity{"threads", 1, 1e-3, 1e9};
inline constexpr Quantity<double> flop_rate_quantity{"GFLOP/s", 1e9, 1e-9, 1e15};

constexpr double in_si(Seconds t) { return t.count(); }
constexpr double in_si(PerByte g) { return g.seconds; }
constexpr double in_si(Bandwidth b) { return b.bytes_per_second; }
constexpr double in_si(double x) { return x; }

/// The shortest number whose product with `scale` is exactly `si`. For a few per cent of all doubles no number has this
/// product. The result is then the nearest number, with an error of one unit in the last place. A file that is read and
/// written again does not change.
double number_for(double si, double scale);

/// Throws Error that names the key and the range that its number is not in.
[[noreturn]] void refuse_number(const JsonReader&, double least, double most, std::string_view unit);

/// Writes {"value": 4.6, "low": 4.5, "high": 4.7, "unit": "us"}. "low" and "high" are left out when both equal the
/// value.
template <class T>
Json interval_json(const Interval<T>& interval, const Quantity<T>& quantity) {
  const auto number = [&](T x) { return number_for(in_si(x), quantity.scale); };
  const double value = number(interval.value);
  const double low = number(interval.low);
  const double high = number(interval.high);
  Json json = Json::object();
  json["value"] = value;
  // The numbers are compared as written, so that reading and writing again leaves the same keys out.
  if (low != value || high != value) {
    json["low"] = low;
    json["high"] = high;
  }
  json["unit"] = quantity.unit;
  return json;
}

/// Reads the output of interval_json. Throws Error that names the key of another unit, an invalid number, or limits
/// that do not enclose the value.
template <class T>
Interval<T> read_interval(const JsonReader& in, const Quantity<T>& quantity) {
  in.only_keys({"value", "low", "high", "unit"});
  const JsonReader unit = in.at("unit");
  if (unit.string() != quantity.unit) unit.fail("the unit \"" + std::string(quantity.unit) + "\"");
  const auto number = [&](const JsonReader& at) {
    const double x = quantity.may_be_zero() ? at.non_negative() : at.positive();
    if (x < quantity.least || x > quantity.most) refuse_number(at, quantity.least, quantity.most, quantity.unit);
    return x * quantity.scale;
  };
  const double value = number(in.at("value"));
  // A null limit is refused. `find` would treat it as absent.
  const double low = in.value().contains("low") ? number(in.at("low")) : value;
  const double high = in.value().contains("high") ? number(in.at("high")) : value;
  if (low > value) in.at("low").fail("a number that is not above \"value\"");
  if (high < value) in.at("high").fail("a number that is not below \"value\"");
  return {T{value}, T{low}, T{high}};
}

}  // namespace shiplap
