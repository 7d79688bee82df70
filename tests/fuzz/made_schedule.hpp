// Schedules made from bytes: mostly nearly sound ones, because others are refused at once.
#pragma once

#include "shiplap/schedule/schedule.hpp"
#include "tests/fuzz/input.hpp"

namespace shiplap::fuzz {

/// A schedule with up to 8 buffers, 5 streams, 3 agents, 2 lists and 40 ops. Ids, regions and numbers are mostly, but
/// not always, in range.
Schedule made_schedule(Input&);

}  // namespace shiplap::fuzz
