// Quantities of JSON files in base units, and as cells of tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/document/document.hpp"

namespace shiplap::document {

/// A number in base units: seconds, bytes, bytes per second, or a ratio.
struct Quantity {
  double value = 0;
  std::optional<double> low{};
  std::optional<double> high{};
};

/// Reads {"value", "low", "high", "unit"}. Throws Error that names the key for a unit that it does not know.
Quantity quantity_of(const JsonReader&);
/// Reads a quantity whose value must be above 0. Throws Error that names the key for any other value.
Quantity positive_quantity_of(const JsonReader&);
/// Reads {"values", "unit"}.
std::vector<double> values_of(const JsonReader&);

/// A time as a cell, with its interval as in "5.573 ± 0.062 ms".
Cell time_cell(const Quantity&);
Cell time_cell(const Interval<Seconds>&);  ///< see time_cell(const Quantity&)
/// The ratio minus 1 as a cell, as in "+2.6 %".
Cell change_cell(double ratio);
/// The fraction as a cell, as in "2.6 %".
Cell percent_cell(double fraction);
/// A number as a cell.
Cell count_cell(std::uint64_t count);

}  // namespace shiplap::document
