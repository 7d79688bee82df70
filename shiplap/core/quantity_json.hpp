// Quantities in JSON have one form: {"value", "low", "high", "unit"} with an interval, {"value", "unit"} without one,
// and {"values", "unit"} for several of a kind. An absent quantity is null. No key names a unit.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// Writes the value, which is in `unit`.
Json quantity_json(double value, std::string_view unit);
/// Writes the value with its interval, both in `unit`. Ratios have the unit "1".
Json quantity_json(const Estimate&, std::string_view unit);
/// Writes the time in milliseconds.
Json quantity_json(Seconds);
/// Writes the time with its interval, in milliseconds.
Json quantity_json(const Interval<Seconds>&);
/// Writes the size in bytes, "B".
Json quantity_json(Bytes);
/// Writes the values, which are in `unit`.
Json quantities_json(std::span<const double> values, std::string_view unit);
/// Writes the times in milliseconds.
Json quantities_json(std::span<const Seconds>);
/// Writes the time in seconds with all digits, so that reading gives the identical value.
Json exact_json(Seconds);

/// Reads a time in "s" or "ms". Throws Error that names the key when an entry is missing or negative, or the unit is
/// another one.
Seconds seconds_from_json(const JsonReader&);
/// Reads a time with its interval, in "s" or "ms". Throws as seconds_from_json does.
Interval<Seconds> seconds_interval_from_json(const JsonReader&);
/// Reads several times, in "s" or "ms". Throws as seconds_from_json does.
std::vector<Seconds> all_seconds_from_json(const JsonReader&);
/// Reads a number of bytes. Throws Error that names the key when the unit is not "B".
Bytes bytes_from_json(const JsonReader&);

}  // namespace shiplap
