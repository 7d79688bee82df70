// What must hold for every timeline, whatever schedule and profile it is made from.
#pragma once

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap::fuzz {

/// Throws Broken unless every op has a span with finite times, no op starts before those that it waits for have ended,
/// and the makespan is not before the last end of an op of the device.
void require_sound(const Schedule&, const Timeline&);

}  // namespace shiplap::fuzz
