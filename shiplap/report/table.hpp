// Text for people: aligned tables, wrapped paragraphs and numbers with their range. Widths count what a terminal shows,
// not bytes, so "µs" and "±" keep columns straight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// How text for a terminal may look.
struct TextStyle {
  bool colour = false;  ///< ANSI colours and weights
  std::size_t width = 100;
};

/// Columns that a terminal needs for UTF-8 text: code points, without combining marks and ANSI sequences, wide ones
/// (CJK, emoji) counted twice.
std::size_t display_width(std::string_view text);

/// `automatic` aligns a column to the right when every filled cell begins like a number.
enum class Align : std::uint8_t { automatic, left, right };

struct Column {
  std::string title;
  Align align = Align::automatic;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);
  /// Missing cells at the end are empty. Throws Error when there are more cells than columns.
  Table& add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Header, rule, one line for each row; two spaces between columns, none at the end of a line. Every line starts with
  /// `indent`.
  std::string text(const TextStyle& = {}, std::string_view indent = "") const;
  /// The same as a table of a Markdown page, with vertical bars in cells escaped.
  std::string markdown() const;

 private:
  /// By column: whether its cells end at the right.
  std::vector<bool> right_aligned() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Breaks text at spaces so that no line is wider than `width` (a longer word stands alone); lines after the first
/// start with `indent`. No newline at the end.
std::string wrap(std::string_view text, std::size_t width, std::string_view indent = "");

/// Bold where the style has colour.
std::string bold(std::string_view text, const TextStyle&);
std::string dim(std::string_view text, const TextStyle&);

/// "5.573 ± 0.062 ms": one unit for both, chosen by the value, which has 4 significant digits. Without the ± when the
/// value is exact; half the width of the interval otherwise.
std::string with_range(const Interval<Seconds>&);
std::string with_range(const Interval<Bandwidth>&);
/// "2.6 %", "97.0 %", "0.04 %": one digit behind the point, two below 0.1 %, none from 100 % on.
std::string percent(double fraction);
/// The same with a sign: "+2.6 %", "−0.5 %".
std::string signed_percent(double fraction);

}  // namespace shiplap
