// A predicted timeline against an observed one, op by op: which part of a pipeline was predicted wrongly.
#pragma once

#include <string>
#include <string_view>

#include "shiplap/document/table.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// A table of sums over all ops, predicted beside observed, by engine: the durations of the ops; the pauses from one op
/// to the next; and the handovers, which are the times from the end of what an op waited for to its start while its
/// engine was free. The sum with the largest difference is named, and the five ops whose durations differ most are
/// listed. `observed_label` is the heading of the observed times: "simulated" for those of a virtual device. Throws
/// Error unless both timelines have the spans of this schedule.
std::string explain_report(const Schedule&, const Timeline& predicted, const Timeline& observed, const TextStyle& = {},
                           std::string_view observed_label = "observed");

/// A timeline and the time of ideal overlap, which is that of the longest stage alone.
struct TimelineAndIdeal {
  const Timeline& timeline;
  Seconds ideal_overlap;
};
/// A table of the distances of both timelines to ideal overlap, along the engine that was observed to be busy longest:
/// the time before its first op, between its ops and after its last op, and its busy time minus ideal overlap. Throws
/// Error for a timeline without spans.
std::string distance_report(const TimelineAndIdeal& predicted, const TimelineAndIdeal& observed, const TextStyle& = {},
                            std::string_view observed_label = "observed");

}  // namespace shiplap
