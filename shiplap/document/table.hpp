// Text for a terminal: aligned tables, wrapped paragraphs, and numbers with their intervals. Widths are columns of the
// terminal, not bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// How text for a terminal may look.
struct TextStyle {
  bool colour = false;     ///< ANSI colours and weights
  std::size_t width = 80;  ///< columns of the terminal
};

/// The number of columns that a terminal needs for UTF-8 text. Combining marks and ANSI sequences count 0, wide
/// characters (CJK, emoji) 2, and all others 1.
std::size_t display_width(std::string_view text);

/// `automatic` aligns a column to the right when every filled cell begins like a number.
enum class Align : std::uint8_t { automatic, left, right };

struct Column {
  std::string title;
  Align align = Align::automatic;
  /// Unit of `Cell::value`: "s", "B", "B/s", "1" (a ratio), or "" for numbers and texts. CSV has it in the title.
  std::string unit = {};
};

/// What a cell says about its row. A terminal shows `bad` in bold, a page shows each in a colour.
enum class Judgement : std::uint8_t { none, good, warn, bad };

/// A cell of a table: what is shown, and the number by which a page sorts rows.
struct Cell {
  Cell() = default;
  Cell(std::string shown) : text(std::move(shown)) {}  // NOLINT: a text is a cell
  Cell(const char* shown) : text(shown) {}             // NOLINT: a text is a cell
  Cell(std::string shown, double number) : text(std::move(shown)), value(number) {}
  Cell(std::string shown, Judgement judged) : text(std::move(shown)), judgement(judged) {}
  std::string text{};
  std::optional<double> value{};
  Judgement judgement = Judgement::none;
};

/// A table, for a terminal, for Markdown, and for a page whose reader sorts it and copies it as CSV.
struct Table {
  std::string title{};
  std::vector<std::string> notes{};  ///< sentences that explain it
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};  ///< each with a cell for every column
  bool may_break_rows = true;             ///< false: each row is one line, because programs look for it

  /// Missing cells at the end are empty. Names of others may stand in cells: no line breaks and control characters but
  /// colours stay. Throws Error when there are more cells than columns.
  Table& add(std::vector<Cell> cells);
  bool empty() const { return rows.empty(); }
  /// The titles of the columns, a rule, and the rows. Two spaces separate columns, and no line ends with spaces. Every
  /// line starts with `indent`. A table that is wider than the style breaks its titles and texts into further lines if
  /// it may; where its numbers alone are wider, it becomes several tables that each have the first column.
  std::string text(const TextStyle& = {}, std::string_view indent = "") const;
  /// The columns and rows in Markdown, with vertical bars in cells escaped.
  std::string markdown() const;
};

/// The text, broken at spaces into lines of at most `width` columns; a longer word gets a line of its own. Lines after
/// the first start with `indent`. The last line has no newline.
std::string wrap(std::string_view text, std::size_t width, std::string_view indent = "");

/// The line as it is where it is no wider than `width`, else broken as by `wrap`. It and `indent` begin with spaces.
std::string wrap_if_wider(std::string_view line, std::size_t width, std::string_view indent = "");

/// The text in bold if the style has colour, else as it is.
std::string bold(std::string_view text, const TextStyle&);
std::string dim(std::string_view text, const TextStyle&);
/// The lines of the text, each as `bold` has it and with a newline.
std::string bold_lines(std::string_view text, const TextStyle&);

/// The value and half the width of its interval, as in "5.573 ± 0.062 ms"; an exact value has no "±". The value has 4
/// significant digits and decides the unit.
std::string with_interval(const Interval<Seconds>&);
std::string with_interval(const Interval<Bandwidth>&);
/// "10.74 (8.73 to 13.42) ms", for an interval that is not around its value.
std::string with_ends(const Interval<Seconds>&);
/// The fraction in per cent: "97.0 %" with one digit behind the point, "0.04 %" with two below 0.1 %, and none from
/// 100 % on.
std::string percent(double fraction);
/// The fraction in per cent with its sign: "+2.6 %", "−0.5 %".
std::string signed_percent(double fraction);

}  // namespace shiplap
