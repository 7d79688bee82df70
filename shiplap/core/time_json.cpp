#include "shiplap/core/time_json.hpp"

#include <nlohmann/json.hpp>

namespace shiplap {

Json milliseconds_json(const Interval<Seconds>& t) {
  return {{"value", in_milliseconds(t.value)}, {"low", in_milliseconds(t.low)}, {"high", in_milliseconds(t.high)}};
}

Interval<Seconds> milliseconds_from_json(const JsonReader& json) {
  // Dividing by 1000 inverts the multiplication by 1000 of in_milliseconds more exactly than multiplying by 1e-3 would.
  const auto seconds = [&](const char* key) { return Seconds{json.at(key).non_negative() / 1e3}; };
  return {seconds("value"), seconds("low"), seconds("high")};
}

}  // namespace shiplap
