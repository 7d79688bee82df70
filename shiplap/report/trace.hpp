// Timelines as a trace for Perfetto or chrome://tracing: a process for each timeline, a track for each engine and
// stream.
#pragma once

#include <span>
#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

struct TraceProcess {
  std::string name;  ///< "predicted", "observed"
  const Schedule& schedule;
  const Timeline& timeline;
};

/// The Trace Event Format's JSON object, times in µs. In each process every op stands once on the track of its engine
/// (engines that show several ops at once have several tracks) and once on that of its stream. Throws Error when a
/// timeline has no spans or belongs to another schedule.
Json chrome_trace(std::span<const TraceProcess>);

}  // namespace shiplap
