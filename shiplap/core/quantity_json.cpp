#include "shiplap/core/quantity_json.hpp"

#include <nlohmann/json.hpp>

namespace shiplap {
namespace {

// Division by 1000 is the inverse of in_milliseconds that gives back the same number.
Seconds time_in(const JsonReader& json, bool in_seconds) {
  const Seconds time{in_seconds ? json.non_negative() : json.non_negative() / 1e3};
  if (time > longest_time) json.fail("a time of at most 1e9 s");
  return time;
}

bool is_in_seconds(const JsonReader& json) {
  const std::string unit = json.at("unit").string();
  if (unit != "s" && unit != "ms") json.at("unit").fail("\"s\" or \"ms\"");
  return unit == "s";
}

}  // namespace

Json quantity_json(double value, std::string_view unit) { return {{"value", value}, {"unit", unit}}; }

Json quantity_json(const Estimate& estimate, std::string_view unit) {
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}, {"unit", unit}};
}

Json quantity_json(Seconds time) { return quantity_json(in_milliseconds(time), "ms"); }

Json quantity_json(const Interval<Seconds>& t) {
  return quantity_json(Estimate{in_milliseconds(t.value), in_milliseconds(t.low), in_milliseconds(t.high)}, "ms");
}

Json quantity_json(Bytes bytes) { return {{"value", bytes.count}, {"unit", "B"}}; }

Json quantities_json(std::span<const double> values, std::string_view unit) {
  Json all = Json::array();
  for (const double value : values) all.push_back(value);
  return {{"values", std::move(all)}, {"unit", unit}};
}

Json quantities_json(std::span<const Seconds> times) {
  Json all = Json::array();
  for (const Seconds time : times) all.push_back(in_milliseconds(time));
  return {{"values", std::move(all)}, {"unit", "ms"}};
}

Json exact_json(Seconds time) { return quantity_json(time.count(), "s"); }

Seconds seconds_from_json(const JsonReader& json) { return time_in(json.at("value"), is_in_seconds(json)); }

Interval<Seconds> seconds_interval_from_json(const JsonReader& json) {
  const bool in_seconds = is_in_seconds(json);
  return {time_in(json.at("value"), in_seconds), time_in(json.at("low"), in_seconds),
          time_in(json.at("high"), in_seconds)};
}

std::vector<Seconds> all_seconds_from_json(const JsonReader& json) {
  const bool in_seconds = is_in_seconds(json);
  const JsonReader values = json.at("values");
  std::vector<Seconds> times;
  for (std::size_t i = 0; i < values.size(); ++i) times.push_back(time_in(values.at(i), in_seconds));
  return times;
}

Bytes bytes_from_json(const JsonReader& json) {
  if (json.at("unit").string() != "B") json.at("unit").fail("\"B\"");
  return Bytes{json.at("value").unsigned_integer()};
}

}  // namespace shiplap
