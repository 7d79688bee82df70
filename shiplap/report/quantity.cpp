#include "shiplap/report/quantity.hpp"

#include <fmt/format.h>

#include <string>

namespace shiplap::document {

Cell time_cell(const Interval<Seconds>& time) {
  return {time.high > time.low ? with_interval(time) : to_string(time.value), time.value.count()};
}

Cell change_cell(double ratio) { return {signed_percent(ratio - 1), ratio}; }

Cell percent_cell(double fraction) { return {percent(fraction), fraction}; }

Cell count_cell(std::uint64_t count) { return {std::to_string(count), static_cast<double>(count)}; }

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace shiplap::document
