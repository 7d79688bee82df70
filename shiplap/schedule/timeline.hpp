// The observed or predicted times of a run of a schedule: start and end of every op on its engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// The hardware unit that an op keeps busy: a copy engine, the SMs (`compute`) or the host.
enum class Engine : std::uint8_t { copy_h2d, copy_d2h, copy_shared, copy_d2d, compute, host };
constexpr std::size_t engine_count = 6;  ///< number of values of Engine
/// The name of the engine, such as "copy H2D" or "compute".
std::string to_string(Engine);

/// The times of an op since the start of the timeline, which is the earliest time at which the first op can be
/// submitted.
struct Span {
  Seconds start{0};              ///< when the op started
  Seconds end{0};                ///< when the op ended
  Engine engine = Engine::host;  ///< the engine that the op kept busy
};

/// The times of all ops of a schedule, and the time of the whole run.
struct Timeline {
  std::vector<Span> spans;  ///< by op; empty when only the makespan was measured
  /// Time from the first start to the last end of the device's work, by the clock of the run.
  Seconds makespan{0};
};

/// Time during which at least one op keeps the engine busy. Throws Error when the timeline has no spans.
Seconds busy_time(const Timeline&, Engine);

/// The engine that is busy longest. Among equals it is the first in this order: H2D, D2H and shared copy engine,
/// compute, D2D copies, host.
struct BusiestEngine {
  Engine engine = Engine::compute;  ///< the engine
  Seconds busy{0};                  ///< its busy time
};
/// The busiest engine of a timeline. Throws Error when the timeline has no spans.
BusiestEngine busiest_engine(const Timeline&);

}  // namespace shiplap
