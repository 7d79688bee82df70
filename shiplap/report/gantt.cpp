#include "shiplap/report/gantt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "shiplap/report/rows.hpp"

namespace shiplap {
namespace {

constexpr std::size_t label_columns = 11;
constexpr std::size_t busy_columns = 11;  // "  97 % busy"

using Cells = std::vector<std::optional<std::uint32_t>>;

/// The chunk of every column of a row.
Cells cells_of(const EngineRow& row, Seconds end, std::size_t columns) {
  const double per_second = end.count() > 0 ? static_cast<double>(columns) / end.count() : 0;
  std::vector<double> busy(columns, 0);
  std::vector<double> longest(columns, 0);
  Cells cells(columns);
  const auto visit = [&](const Bar& bar, const auto& cell) {
    const double from = bar.start.count() * per_second;
    const double to = std::min(bar.end.count() * per_second, static_cast<double>(columns));
    for (auto c = static_cast<std::size_t>(from); c < columns && static_cast<double>(c) < to; ++c) {
      const auto left = static_cast<double>(c);
      cell(c, std::min(to, left + 1) - std::max(from, left));
    }
  };
  for (const Bar& bar : row.bars)
    visit(bar, [&](std::size_t c, double covered) {
      busy[c] += covered;
      if (covered <= longest[c]) return;
      longest[c] = covered;
      cells[c] = bar.chunk;
    });
  // The limit is a hair below one half, so that rounding does not decide about a column that is half busy.
  for (std::size_t c = 0; c < columns; ++c)
    if (busy[c] < 0.5 - 1e-9) cells[c].reset();
  for (const Bar& bar : row.bars) {
    bool shown = false;
    std::size_t widest = columns;
    double most = 0;
    visit(bar, [&](std::size_t c, double covered) {
      shown = shown || cells[c] == bar.chunk;
      if (covered > most) {
        most = covered;
        widest = c;
      }
    });
    if (!shown && widest < columns && !cells[widest]) cells[widest] = bar.chunk;
  }
  return cells;
}

std::string paint(const Cells& cells, bool colour) {
  std::string out;
  int background = 0;
  for (const auto& chunk : cells) {
    if (colour) {
      // Neighbouring chunks differ in lightness, so that the picture can be read without colour vision.
      const int wanted = chunk ? (*chunk % 2 == 0 ? 24 : 117) : 0;
      if (wanted != background)
        out += wanted == 0 ? "\x1b[0m" : fmt::format("\x1b[38;5;{};48;5;{}m", wanted == 24 ? 231 : 16, wanted);
      background = wanted;
    }
    out += chunk ? fmt::format("{}", *chunk % 10) : "·";
  }
  if (background != 0) out += "\x1b[0m";
  return out;
}

/// The two lines of the axis: the ruler and its numbers.
std::string axis_lines(Seconds end, std::size_t columns) {
  const Axis axis = time_axis(end, static_cast<unsigned>(std::max<std::size_t>(2, columns / 8)));
  const double span = end.count() * axis.per_second;
  std::vector<std::string> ruler(columns, "─");
  std::string numbers(columns, ' ');
  for (const double tick : axis.ticks) {
    const auto column =
        span > 0 ? static_cast<std::size_t>(std::lround(tick / span * static_cast<double>(columns))) : 0;
    if (column >= columns) continue;
    ruler[column] = column == 0 ? "├" : "┼";
    const std::string label = axis.label(tick);
    // The number of a tick near the end of the axis may extend beyond the axis.
    numbers.resize(std::max(numbers.size(), column + label.size()), ' ');
    numbers.replace(column, label.size(), label);
  }
  std::string line;
  for (const auto& mark : ruler) line += mark;
  return fmt::format("{:{}}{}\n{:{}}{} {}\n", "", label_columns, line, "", label_columns, numbers, axis.unit);
}

}  // namespace

std::string gantt(const Schedule& schedule, const Timeline& timeline, const GanttOptions& options) {
  const std::vector<EngineRow> rows = engine_rows(timeline_view(schedule, timeline));
  const Seconds end = options.axis_end.count() > 0 ? options.axis_end : last_end(timeline);
  const std::size_t columns =
      std::max<std::size_t>(20, options.style.width - std::min(options.style.width, label_columns + busy_columns));
  std::string out;
  if (!options.title.empty()) out += bold(options.title, options.style) + "\n";
  for (const EngineRow& row : rows)
    out += fmt::format("{:<{}}{} {:>3.0f} % busy\n", row.label, label_columns,
                       paint(cells_of(row, end, columns), options.style.colour), row.busy * 100);
  out += axis_lines(end, columns);
  return out;
}

}  // namespace shiplap
