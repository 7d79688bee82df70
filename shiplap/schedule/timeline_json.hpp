// A timeline as JSON: its ops with their engine and times.
#pragma once

#include "shiplap/core/json_forward.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// Bytes that an op moves; 0 for an op that moves none.
Bytes bytes_of(const Op&);

/// An array with `op`, `engine`, `chunk`, `bytes`, `start` and `end` of each op. Throws Error when the timeline has no
/// spans or belongs to another schedule.
Json timeline_json(const Schedule&, const Timeline&);

}  // namespace shiplap
