// A timeline laid out as rows of bars, one row for each engine, for the text and the SVG picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/schedule/timeline_view.hpp"

namespace shiplap {

/// One op on the row of its engine. Bars of one lane never overlap.
struct Bar {
  OpId op;
  std::uint32_t chunk = 0;
  Seconds start{0};
  Seconds end{0};
  unsigned lane = 0;
};

struct EngineRow {
  Engine engine = Engine::host;
  std::string label;   ///< "H2D copies"
  std::string thing;   ///< what its bars are, for their colour: "h2d"
  std::string detail;  ///< rate while the engine is busy, as in "33.55 GB/s"; "" when it moves no bytes
  double busy = 0;     ///< busy time as a fraction of the time from the first start to the last end of the timeline
  unsigned lanes = 1;
  std::vector<Bar> bars;  ///< in the order of their starts
};

/// How copies of one engine with overlapping spans are drawn: one after the other, or in lanes.
enum class Overlap : std::uint8_t { in_turn, lanes };

/// Rows of the engines that are used, in the order in which data flow: host, H2D, kernels, D2H.
///
/// A copy engine performs one copy at a time, but a start mark can fire before the engine is free, so spans of copies
/// may overlap. With `Overlap::in_turn` such copies are drawn one after the other, each from the end of the one before.
/// Kernels and host copies can run at the same time and get up to `most_lanes` lanes. Where that is not enough they are
/// drawn one after the other too. `Bar::op` is the index in the view.
std::vector<EngineRow> engine_rows(const TimelineView&, unsigned most_lanes = 4, Overlap = Overlap::in_turn);

/// The end of the last span, where the time axis ends.
Seconds last_end(const Timeline&);

/// A round step (1, 2 or 5 times a power of ten) that divides `span` into at most `most` parts.
double round_step(double span, unsigned most);

/// A time axis: its unit, and its ticks in that unit from 0 on.
struct Axis {
  const char* unit = "ms";
  double per_second = 1e3;
  double step = 1;
  std::vector<double> ticks;
  std::string label(double tick) const;
};
/// An axis in milliseconds, or in microseconds when `end` is below 0.1 ms.
Axis time_axis(Seconds end, unsigned most_ticks);

}  // namespace shiplap
