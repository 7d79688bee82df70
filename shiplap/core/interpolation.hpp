// Interpolation between the rows of a table: the neighbours of a value, and the lines through them.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace shiplap {

/// Which rows follow for a value beyond the last row.
enum class BeyondLast { last_row, last_two_rows };

/// Iterators to the neighbours of x among rows that increase in `key`. Both are the first row for a value up to that of
/// the first row, and where there is only one row.
template <class Rows, class Key>
auto neighbours(const Rows& rows, double x, const Key& key, BeyondLast beyond = BeyondLast::last_row) {
  const auto end = std::ranges::end(rows);
  auto above = std::ranges::find_if(rows, [&](const auto& row) { return key(row) >= x; });
  const bool is_beyond = above == end;
  if (is_beyond) above = std::prev(above);
  const bool has_one = above == std::ranges::begin(rows) || (is_beyond && beyond == BeyondLast::last_row);
  return std::pair{has_one ? above : std::prev(above), above};
}

/// The value at `part` of the way from a to b. It is exactly a at 0.
template <class T>
T on_line(const T& a, const T& b, double part) {
  return a + (b - a) * part;
}

/// The value at x of the power law through (below, low) and (above, high). When one of the two values is 0, it is
/// interpolated over the logarithm of x instead.
inline double on_power_law(double x, double below, double low, double above, double high) {
  const double part = std::log(x / below) / std::log(above / below);
  return low > 0 && high > 0 ? low * std::pow(high / low, part) : std::lerp(low, high, part);
}

}  // namespace shiplap
