#include "shiplap/report/compare_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace shiplap {
namespace {

/// A bandwidth for a figure that moves at least 64 KiB, else a time.
std::string figure_text(const Figure& figure) {
  constexpr Bytes enough = 64_KiB;
  if (!figure.bytes || *figure.bytes < enough || !(figure.time.low > Seconds{0})) return with_interval(figure.time);
  const Bytes bytes = *figure.bytes;
  return with_interval(
      Interval<Bandwidth>{bytes / figure.time.value, bytes / figure.time.high, bytes / figure.time.low});
}

std::string figure_table(const Comparison& comparison, bool all, const TextStyle& style) {
  std::vector<const ComparedFigure*> rows;
  for (const ComparedFigure& row : comparison.figures)
    if (all || row.change == Change::degraded || row.change == Change::better) rows.push_back(&row);
  if (!all)
    std::ranges::stable_sort(rows, std::greater<>{}, [](const ComparedFigure* row) { return row->slower.value; });
  if (rows.empty()) return "";
  Table table({{"figure", Align::left},
               {"baseline", Align::right},
               {"now", Align::right},
               {"time", Align::right},
               {"", Align::left}});
  for (const ComparedFigure* row : rows) {
    const bool worse = row->change == Change::degraded;
    table.add({name_of(row->now), figure_text(row->baseline), figure_text(row->now),
               std::isfinite(row->slower.high) ? signed_percent(row->slower.value - 1) : "–",
               worse ? bold(to_string(row->change), style) : to_string(row->change)});
  }
  return table.text(style) + "\n";
}

std::string listed(std::string_view what, const std::vector<std::string>& names, const TextStyle& style) {
  if (names.empty()) return "";
  constexpr std::size_t most = 6;
  const std::size_t shown = std::min(names.size(), most);
  std::string text =
      fmt::format("{} {}: {}", names.size(), what, fmt::join(names.begin(), names.begin() + shown, "; "));
  if (shown < names.size()) text += fmt::format("; and {} more", names.size() - shown);
  return wrap(text, style.width, "  ") + "\n";
}

}  // namespace

std::string compare_report(const Comparison& comparison, bool all, const TextStyle& style) {
  std::string out;
  if (comparison.baseline_simulated || comparison.now_simulated)
    out += wrap(fmt::format("{} measured on a simulated device: the comparison says nothing about the hardware.",
                            !comparison.now_simulated        ? "The baseline was"
                            : !comparison.baseline_simulated ? "The profile to judge was"
                                                             : "Both profiles were"),
                style.width) +
           "\n\n";
  out += figure_table(comparison, all, style);
  if (!comparison.conditions.empty()) {
    Table table({{"condition", Align::left}, {"baseline", Align::left}, {"now", Align::left}});
    for (const auto& [name, before, now] : comparison.conditions) table.add({name, before, now});
    out += table.text(style) + "\n";
  }
  out += listed("failed, bytes did not arrive", comparison.failed, style);
  out += listed("only in the baseline", comparison.only_in_baseline, style);
  out += listed("only now", comparison.only_now, style);
  out +=
      wrap(fmt::format("{} figures compared: {} degraded, {} better, {} unclear (their intervals are too wide to "
                       "tell), {} same",
                       comparison.figures.size(), comparison.count(Change::degraded), comparison.count(Change::better),
                       comparison.count(Change::unclear), comparison.count(Change::same)),
           style.width) +
      "\n";
  return out;
}

}  // namespace shiplap
