// What happened, or is predicted to happen, when a schedule ran: start and end of every op on its engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/core/id.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// The part of a node that an op keeps busy.
enum class Engine : std::uint8_t { copy_h2d, copy_d2h, copy_shared, copy_d2d, compute, host };
constexpr std::size_t engine_count = 6;  ///< of Engine
/// "copy H2D", "compute"
std::string to_string(Engine);

/// Times since the start of the timeline, which is the moment the first op could have been submitted.
struct Span {
  Seconds start{0};              ///< since the timeline's start
  Seconds end{0};                ///< since the timeline's start
  Engine engine = Engine::host;  ///< that was busy
};

/// `spans[i]` belongs to op i of the schedule. Where only the total was asked for, `spans` is empty.
struct Timeline {
  std::vector<Span> spans;  ///< by op
  /// First start to last end of the device's work, as the clock rule of the run defines it.
  Seconds makespan{0};
};

/// Time during which at least one op keeps the engine busy.
Seconds busy_time(const Timeline&, Engine);

/// The engine that is busy longest, the one that everything else waits for; of several the first of: copies to the GPU,
/// to the host, on a shared engine, kernels, copies on the GPU, the host.
struct BusiestEngine {
  Engine engine = Engine::compute;  ///< which one
  Seconds busy{0};                  ///< for how long in all
};
/// Of a timeline with spans.
BusiestEngine busiest_engine(const Timeline&);

/// The chain of ops that determines the makespan, first to last: walks back from the op that ends last, each time to
/// the predecessor (dependency, stream order or same engine) that ended last before it started.
std::vector<OpId> critical_path(const Schedule&, const Timeline&);

}  // namespace shiplap
