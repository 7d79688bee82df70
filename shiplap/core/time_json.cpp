#include "shiplap/core/time_json.hpp"

#include <nlohmann/json.hpp>

namespace shiplap {

Json milliseconds_json(const Interval<Seconds>& t) {
  return {{"value", in_milliseconds(t.value)}, {"low", in_milliseconds(t.low)}, {"high", in_milliseconds(t.high)}};
}

Interval<Seconds> milliseconds_from_json(const JsonReader& json) {
  // Dividing by 1e3 is more accurate than multiplying by 1e-3, which no double represents exactly.
  const auto seconds = [&](const char* key) { return Seconds{json.at(key).non_negative() / 1e3}; };
  return {seconds("value"), seconds("low"), seconds("high")};
}

}  // namespace shiplap
