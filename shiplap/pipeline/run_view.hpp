// The report of a run as files have it.
#pragma once

#include "shiplap/core/json_forward.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/schedule/timeline_view.hpp"

namespace shiplap {

/// A report with its timelines. One that was read from a file has no schedules.
struct RunView {
  Report run;
  TimelineView timeline{};            ///< the traced run; empty when none was traced
  TimelineView predicted_timeline{};  ///< the prediction of its schedule; empty without one
};
/// The report with the timelines that it has.
RunView run_view(const Report&);

/// Writes the document `shiplap/run`.
Json to_json(const RunView&);
/// Reads the document. Throws Error that names the key.
void from_json(const JsonReader&, RunView&);
Json json_schema(const RunView&);  ///< the JSON Schema of the document

}  // namespace shiplap
