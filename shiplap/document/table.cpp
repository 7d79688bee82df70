#include "shiplap/document/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"

namespace shiplap {
namespace {

/// Removes an ANSI sequence ("ESC [ … letter") from the front of the text. Returns whether there was one.
bool skip_escape(std::string_view& text) {
  if (!text.starts_with("\x1b[")) return false;
  std::size_t end = 2;
  while (end < text.size() && !(text[end] >= '@' && text[end] <= '~')) ++end;
  text.remove_prefix(std::min(end + 1, text.size()));
  return true;
}

std::size_t width_of(char32_t code) {
  if (code < 0x20 || (code >= 0x300 && code <= 0x36F) || (code >= 0x200B && code <= 0x200F) || code == 0xFE0F) return 0;
  const bool wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                    (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                    (code >= 0xFF00 && code <= 0xFF60) || (code >= 0x1F300 && code <= 0x1FAFF);
  return wide ? 2 : 1;
}

bool begins_like_a_number(std::string_view cell) {
  for (const std::string_view lead : {"+", "-", "−", "±", "<", ">", "≤", "≥", "×", "x "})
    if (cell.starts_with(lead)) {
      cell.remove_prefix(lead.size());
      break;
    }
  while (cell.starts_with(' ')) cell.remove_prefix(1);
  return !cell.empty() && cell.front() >= '0' && cell.front() <= '9';
}

/// Whether the cell is empty or a dash, so that it says nothing about the alignment of its column.
bool is_blank(std::string_view cell) { return cell.empty() || cell == "–" || cell == "-"; }

struct Scale {
  double factor;
  const char* unit;
};

/// Times and rates are not below 0, whatever the arithmetic of their intervals says.
std::string scaled_interval(double value, double low, double high, Scale scale, bool shows_ends) {
  const double v = value * scale.factor;
  const double half = (high - low) / 2 * scale.factor;
  const int magnitude = v == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(v))));
  const int decimals = std::clamp(3 - magnitude, 0, 6);
  if (!(half > 0)) return fmt::format("{:.{}f} {}", v, decimals, scale.unit);
  if (shows_ends || half > std::abs(v) / 2)
    return fmt::format("{:.{}f} ({:.{}f} to {:.{}f}) {}", v, decimals, std::max(0.0, low) * scale.factor, decimals,
                       high * scale.factor, decimals, scale.unit);
  return fmt::format("{:.{}f} ± {:.{}f} {}", v, decimals, half, decimals, scale.unit);
}

/// Whether each column is aligned to the right.
std::vector<bool> right_aligned(const Table& table) {
  std::vector<bool> right;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    bool numbers = false;
    bool words = false;
    for (const auto& row : table.rows)
      if (!is_blank(row[c].text)) (begins_like_a_number(row[c].text) ? numbers : words) = true;
    const Align align = table.columns[c].align;
    right.push_back(align == Align::right || (align == Align::automatic && numbers && !words));
  }
  return right;
}

/// The text in lines of at most `width` columns, where its words allow it. Further lines begin with a mark, so that a
/// name of others, which may hold spaces, cannot begin a line.
std::vector<std::string> lines_of(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return {text};
  std::vector<std::string> lines;
  std::istringstream all(wrap(text, width, "…"));
  for (std::string line; std::getline(all, line);) lines.push_back(std::move(line));
  return lines;
}

/// The columns that `lines_of` needs at least.
std::size_t least_width(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) longest = std::max(longest, display_width(word) + (longest > 0 ? 1 : 0));
  return longest;
}

/// The width of each column, so that the table is no wider than `width` where its words allow it. Titles and texts are
/// broken at spaces, the widest columns first; numbers are not.
std::vector<std::size_t> widths_within(const Table& table, const std::vector<bool>& right, std::size_t width) {
  std::vector<std::size_t> widths;
  std::vector<std::size_t> least;
  std::size_t sum = 2 * std::max<std::size_t>(table.columns.size(), 1) - 2;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    widths.push_back(display_width(table.columns[c].title));
    least.push_back(least_width(table.columns[c].title));
    for (const auto& row : table.rows) {
      widths[c] = std::max(widths[c], display_width(row[c].text));
      least[c] = std::max(least[c], right[c] ? display_width(row[c].text) : least_width(row[c].text));
    }
    sum += widths[c];
  }
  for (; sum > width; --sum) {
    std::size_t widest = widths.size();
    for (std::size_t c = 0; c < widths.size(); ++c)
      if (widths[c] > least[c] && (widest == widths.size() || widths[c] > widths[widest])) widest = c;
    if (widest == widths.size()) break;
    --widths[widest];
  }
  return widths;
}

/// The columns that a line of a table takes.
std::size_t width_of_line(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), 2 * std::max<std::size_t>(widths.size(), 1) - 2);
}

/// The first column and `count` columns from `begin` on.
Table table_of_columns(const Table& table, std::size_t begin, std::size_t count) {
  Table part;
  const auto take = [&](const auto& from, auto& to) {
    to.push_back(from.front());
    for (std::size_t c = begin; c < std::min(begin + count, table.columns.size()); ++c) to.push_back(from[c]);
  };
  take(table.columns, part.columns);
  for (const auto& row : table.rows) take(row, part.rows.emplace_back());
  return part;
}

/// A table whose numbers do not fit side by side as several tables, each with the first column: as few as are no wider
/// than `width`, with about as many columns each. None where a cell alone is too wide, such as the path of a file.
std::vector<Table> parts_within(const Table& table, std::size_t width) {
  const std::size_t others = table.columns.size() - 1;
  const auto fits = [&](const Table& part) {
    return width_of_line(widths_within(part, right_aligned(part), width)) <= width;
  };
  for (std::size_t count = 2; count <= others; ++count) {
    const std::size_t columns_of_part = (others + count - 1) / count;
    std::vector<Table> parts;
    for (std::size_t begin = 1; begin <= others; begin += columns_of_part)
      parts.push_back(table_of_columns(table, begin, columns_of_part));
    if (std::ranges::all_of(parts, fits)) return parts;
  }
  return {};
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    if (skip_escape(text)) continue;
    width += width_of(take_code_point(text));
  }
  return width;
}

Table& Table::add(std::vector<Cell> cells) {
  if (cells.size() > columns.size())
    throw Error(fmt::format("a table of {} columns was given a row of {} cells", columns.size(), cells.size()));
  cells.resize(columns.size());
  for (Cell& cell : cells) {
    cell.text = printable_lines(cell.text, true);
    std::ranges::replace(cell.text, '\n', ' ');
  }
  rows.push_back(std::move(cells));
  return *this;
}

std::string Table::markdown() const {
  const auto line = [&](const auto& cell) {
    std::string out = "|";
    for (std::size_t c = 0; c < columns.size(); ++c) {
      out += ' ';
      for (const char character : std::string(cell(c))) {
        if (character == '|') out += '\\';
        out += character;
      }
      out += " |";
    }
    return out + "\n";
  };
  const std::vector<bool> right = right_aligned(*this);
  std::string out = line([&](std::size_t c) { return columns[c].title; });
  out += "|";
  for (const bool is_right : right) out += is_right ? "---:|" : "---|";
  out += "\n";
  for (const auto& row : rows) out += line([&](std::size_t c) { return row[c].text; });
  return out;
}

std::string Table::text(const TextStyle& style, std::string_view indent) const {
  const std::vector<bool> right = right_aligned(*this);
  const std::size_t room = style.width - std::min(style.width, display_width(indent));
  const std::vector<std::size_t> widths =
      widths_within(*this, right, may_break_rows ? room : std::numeric_limits<std::size_t>::max());
  if (may_break_rows && columns.size() > 2 && width_of_line(widths) > room) {
    std::string parts;
    for (const Table& part : parts_within(*this, room)) parts += (parts.empty() ? "" : "\n") + part.text(style, indent);
    if (!parts.empty()) return parts;
  }
  std::string out;
  /// A row, whose cells may take several lines.
  const auto add_row = [&](const auto& cell, const auto& dressed) {
    std::vector<std::vector<std::string>> lines;
    std::size_t height = 1;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      lines.push_back(lines_of(cell(c), widths[c]));
      height = std::max(height, lines.back().size());
    }
    for (std::size_t i = 0; i < height; ++i) {
      std::string line;
      std::string pending;  // spaces are written only when something follows them
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const std::string content = i < lines[c].size() ? lines[c][i] : "";
        const std::string padding(widths[c] - std::min(widths[c], display_width(content)), ' ');
        if (right[c]) pending += padding;
        if (!content.empty()) {
          line += pending + dressed(c, content);
          pending.clear();
        }
        if (!right[c]) pending += padding;
        pending += "  ";
      }
      out += fmt::format("{}{}\n", indent, line);
    }
  };
  add_row([&](std::size_t c) { return columns[c].title; },
          [&](std::size_t, const std::string& t) { return bold(t, style); });
  std::string rule;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (c > 0) rule += "  ";
    for (std::size_t i = 0; i < widths[c]; ++i) rule += "─";
  }
  out += fmt::format("{}{}\n", indent, dim(rule, style));
  for (const auto& row : rows)
    add_row(
        [&](std::size_t c) { return row[c].text; },
        [&](std::size_t c, const std::string& t) { return row[c].judgement == Judgement::bad ? bold(t, style) : t; });
  return out;
}

namespace {

/// Whether a word is a number, as in "−1,024" or "2.0".
bool is_number(std::string_view word) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (const std::string_view sign : {"−", "-", "+", "±"})
    if (word.starts_with(sign)) word.remove_prefix(sign.size());
  return !word.empty() && is_digit(word.front()) && is_digit(word.back());
}

}  // namespace

std::string wrap(std::string_view text, std::size_t width, std::string_view indent) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t start = text.find_first_not_of(" \n");
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    std::string_view word = text.substr(0, text.find_first_of(" \n"));
    if (is_number(word) && word.size() + 1 < text.size() && text[word.size()] == ' ') {
      // A number and its unit stay together.
      const std::string_view both = text.substr(0, text.find_first_of(" \n", word.size() + 1));
      if (both.back() != ' ' && display_width(both) <= width) word = both;
    }
    text.remove_prefix(word.size());
    const std::size_t needed = display_width(word);
    if (out.empty()) {
      column = needed;
    } else if (column + 1 + needed > width) {
      out += '\n';
      out += indent;
      column = display_width(indent) + needed;
    } else {
      out += ' ';
      column += 1 + needed;
    }
    out += word;
  }
  return out;
}

std::string wrap_if_wider(std::string_view line, std::size_t width, std::string_view indent) {
  if (display_width(line) <= width) return std::string(line);
  const std::size_t spaces = std::min({line.find_first_not_of(' '), indent.size(), width});
  const std::string begin(line.substr(0, spaces));
  std::string out = begin;
  for (const char character : wrap(line.substr(spaces), width - spaces, indent.substr(spaces))) {
    out += character;
    if (character == '\n') out += begin;
  }
  return out;
}

std::string bold_lines(std::string_view text, const TextStyle& style) {
  std::string out;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) out += bold(line, style) + "\n";
  return out;
}

std::string bold(std::string_view text, const TextStyle& style) {
  return style.colour ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

std::string dim(std::string_view text, const TextStyle& style) {
  return style.colour ? fmt::format("\x1b[2m{}\x1b[0m", text) : std::string(text);
}

namespace {

std::string time_text(const Interval<Seconds>& t, bool shows_ends) {
  const double s = std::abs(t.value.count());
  const Scale scale = s >= 1 ? Scale{1, "s"} : s >= 1e-3 ? Scale{1e3, "ms"} : Scale{1e6, "µs"};
  return scaled_interval(t.value.count(), t.low.count(), t.high.count(), scale, shows_ends);
}

}  // namespace

std::string with_interval(const Interval<Seconds>& t) { return time_text(t, false); }
std::string with_ends(const Interval<Seconds>& t) { return time_text(t, true); }

std::string with_interval(const Interval<Bandwidth>& b) {
  return scaled_interval(b.value.bytes_per_second, b.low.bytes_per_second, b.high.bytes_per_second, {1e-9, "GB/s"},
                         false);
}

std::string percent(double fraction) {
  const double value = fraction * 100;
  const double size = std::abs(value);
  const int decimals = size == 0 || size >= 99.95 ? 0 : size >= 0.1 ? 1 : 2;
  return fmt::format("{:.{}f} %", value, decimals);
}

std::string signed_percent(double fraction) {
  return fmt::format("{}{}", fraction < 0 ? "−" : fraction > 0 ? "+" : "", percent(std::abs(fraction)));
}

}  // namespace shiplap
