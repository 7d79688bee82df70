// Predicted against observed, op by op: which part of a pipeline the prediction has wrong.
#pragma once

#include <string>
#include <string_view>

#include "shiplap/report/table.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// Sums over all ops: time that copies move and kernels run, pauses of each engine, and time from the end of what an op
/// waits for to its start where its engine was free; each predicted beside observed, the one that is off most named,
/// and the ops whose own duration is off most. Both timelines must have spans of this schedule, else Error.
/// `observed_word` heads the times that are set beside the predicted ones: "simulated" for those of a virtual device.
std::string explain_report(const Schedule&, const Timeline& predicted, const Timeline& observed, const TextStyle& = {},
                           std::string_view observed_word = "observed");

/// A timeline and the time of ideal overlap: of the longest stage alone.
struct TimelineAndIdeal {
  const Timeline& timeline;
  Seconds ideal_overlap;
};
/// The distance of both to ideal overlap along the engine that is busy longest as observed: before its first op,
/// between its ops, after its last one, and by how much its ops are longer or shorter than ideal overlap. Throws Error
/// without spans.
std::string distance_report(const TimelineAndIdeal& predicted, const TimelineAndIdeal& observed, const TextStyle& = {},
                            std::string_view observed_word = "observed");

}  // namespace shiplap
