// A timeline laid out as rows of bars, one row for each engine: what the text and the SVG picture have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// One op on its row. Bars of one lane never overlap.
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
  std::string detail;  ///< "33.55 GB/s while busy", empty for what moves no bytes
  double busy = 0;     ///< busy time over the time from the first start to the last end
  unsigned lanes = 1;
  std::vector<Bar> bars;  ///< by start
};

/// What is done with copies of one engine that a timeline shows at once.
enum class Overlap : std::uint8_t { in_turn, lanes };

/// Rows for the engines that do something, in the order data flows: host, H2D, kernels, D2H.
///
/// A copy engine does one copy at a time, so copies that a trace shows at once (a start mark can fire before the engine
/// is free) are drawn one after the other, each from the end of the one before, unless lanes are asked for. Kernels and
/// host copies can really run together and get up to `most_lanes` lanes; beyond that they are drawn like copies. Throws
/// Error when the timeline has no spans (it was not traced) or belongs to another schedule.
std::vector<EngineRow> engine_rows(const Schedule&, const Timeline&, unsigned most_lanes = 4,
                                   Overlap = Overlap::in_turn);

/// The end of the last span; the time axis ends there.
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
/// Milliseconds; microseconds below 0.1 ms.
Axis time_axis(Seconds end, unsigned most_ticks);

}  // namespace shiplap
