// A timeline with what files and pictures need to know of its ops, independent of the schedule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// One op with its times.
struct TimelineOp {
  std::string name;         ///< the op in words
  Span span;                ///< its engine and times
  std::uint32_t chunk = 0;  ///< its chunk
  Bytes bytes{};            ///< bytes that it moves
};
/// The ops in the order of the schedule.
using TimelineView = std::vector<TimelineOp>;

/// Bytes that an op moves; 0 for an op that moves none.
Bytes bytes_of(const Op&);

/// The ops of a schedule with their times. Throws Error when the timeline has no times of single ops (it was not
/// traced) or belongs to another schedule.
TimelineView timeline_view(const Schedule&, const Timeline&);

/// Writes `op`, `engine`, `chunk`, `bytes`, `start` and `end`.
Json to_json(const TimelineOp&);
/// Reads what to_json wrote. Throws Error that names the key.
void from_json(const JsonReader&, TimelineOp&);
Json json_schema(const TimelineOp&);  ///< JSON Schema of what to_json writes

}  // namespace shiplap
