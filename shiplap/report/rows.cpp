#include "shiplap/report/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace shiplap {
namespace {

struct EngineKind {
  Engine engine;
  const char* label;
  const char* thing;
  bool serial;  ///< whether the engine performs one op at a time
};
constexpr std::array<EngineKind, engine_count> engine_kinds{{{Engine::host, "host", "host", false},
                                                             {Engine::copy_h2d, "H2D copies", "h2d", true},
                                                             {Engine::copy_shared, "copies", "both", true},
                                                             {Engine::compute, "kernels", "kernel", false},
                                                             {Engine::copy_d2h, "D2H copies", "d2h", true},
                                                             {Engine::copy_d2d, "D2D copies", "both", true}}};

/// Puts each bar into the first free lane. Returns false when `most` lanes are too few.
bool assign_lanes(std::vector<Bar>& bars, unsigned most, unsigned& lanes) {
  std::vector<Seconds> free_from;
  for (Bar& bar : bars) {
    const auto lane = std::find_if(free_from.begin(), free_from.end(), [&](Seconds t) { return t <= bar.start; });
    if (lane == free_from.end()) {
      if (free_from.size() == most) return false;
      bar.lane = static_cast<unsigned>(free_from.size());
      free_from.push_back(bar.end);
    } else {
      bar.lane = static_cast<unsigned>(lane - free_from.begin());
      *lane = bar.end;
    }
  }
  lanes = std::max<unsigned>(1, static_cast<unsigned>(free_from.size()));
  return true;
}

void draw_in_turn(std::vector<Bar>& bars) {
  std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.end < b.end; });
  Seconds free_from{0};
  for (Bar& bar : bars) {
    bar.lane = 0;
    bar.start = std::max(bar.start, free_from);
    free_from = std::max(free_from, bar.end);
  }
}

}  // namespace

std::vector<EngineRow> engine_rows(const TimelineView& ops, unsigned most_lanes, Overlap overlap) {
  Timeline timeline;
  for (const TimelineOp& op : ops) timeline.spans.push_back(op.span);
  Seconds first{0};
  if (!ops.empty()) first = std::ranges::min(timeline.spans, {}, &Span::start).start;
  const Seconds whole = last_end(timeline) - first;

  std::vector<EngineRow> rows;
  for (const EngineKind& kind : engine_kinds) {
    EngineRow row;
    row.engine = kind.engine;
    row.label = kind.label;
    row.thing = kind.thing;
    Bytes moved;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      const Span& span = ops[i].span;
      if (span.engine != kind.engine) continue;
      row.bars.push_back({.op = OpId{i}, .chunk = ops[i].chunk, .start = span.start, .end = span.end});
      moved += ops[i].bytes;
    }
    if (row.bars.empty()) continue;
    std::stable_sort(row.bars.begin(), row.bars.end(), [](const Bar& a, const Bar& b) { return a.start < b.start; });
    const bool in_turn = kind.serial && overlap == Overlap::in_turn;
    if (in_turn || !assign_lanes(row.bars, most_lanes, row.lanes)) draw_in_turn(row.bars);
    const Seconds busy = busy_time(timeline, kind.engine);
    row.busy = whole.count() > 0 ? busy / whole : 0;
    if (moved.count > 0 && busy.count() > 0) row.detail = to_string(moved / busy);
    rows.push_back(std::move(row));
  }
  return rows;
}

Seconds last_end(const Timeline& timeline) {
  Seconds end{0};
  for (const Span& span : timeline.spans) end = std::max(end, span.end);
  return end;
}

double round_step(double span, unsigned most) {
  if (!(span > 0)) return 1;
  const double least = span / std::max(1u, most);
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double step : {1.0, 2.0, 5.0})
    if (step * power >= least * (1 - 1e-9)) return step * power;
  return 10 * power;
}

std::string Axis::label(double tick) const {
  const int decimals = std::clamp(-static_cast<int>(std::floor(std::log10(step) + 1e-9)), 0, 6);
  return fmt::format("{:.{}f}", tick, decimals);
}

Axis time_axis(Seconds end, unsigned most_ticks) {
  Axis axis;
  if (end < microseconds(100)) axis = {.unit = "µs", .per_second = 1e6, .step = 1, .ticks = {}};
  const double span = end.count() * axis.per_second;
  axis.step = round_step(span, most_ticks);
  for (int i = 0; i * axis.step <= span * (1 + 1e-9); ++i) axis.ticks.push_back(i * axis.step);
  return axis;
}

}  // namespace shiplap
