// A time interval in JSON: {"value", "low", "high"}, in milliseconds.
#pragma once

#include "shiplap/core/json.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// Writes the interval in milliseconds.
Json milliseconds_json(const Interval<Seconds>&);
/// Reads the output of milliseconds_json. Throws Error that names the key when an entry is missing or negative.
Interval<Seconds> milliseconds_from_json(const JsonReader&);

}  // namespace shiplap
