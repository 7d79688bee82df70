// Quantities as cells of tables and in sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/document/table.hpp"

namespace shiplap::document {

/// A time as a cell, with its interval as in "5.573 ± 0.062 ms".
Cell time_cell(const Interval<Seconds>&);
/// The ratio minus 1 as a cell, as in "+2.6 %".
Cell change_cell(double ratio);
/// The fraction as a cell, as in "2.6 %".
Cell percent_cell(double fraction);
/// A number as a cell.
Cell count_cell(std::uint64_t count);
/// A number of things, as in "1 node" and "3 nodes".
std::string counted(std::size_t count, std::string_view noun);

}  // namespace shiplap::document
