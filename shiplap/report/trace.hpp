// Timelines as a trace for Perfetto or chrome://tracing, with a process for each timeline and a track for each engine
// and stream.
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

/// A JSON object in the Trace Event Format, with times in µs. In each process every op is on the track of its engine
/// and on the track of its stream; an engine whose ops overlap has several tracks. Throws Error when a timeline has no
/// spans or belongs to another schedule.
Json chrome_trace(std::span<const TraceProcess>);

}  // namespace shiplap
