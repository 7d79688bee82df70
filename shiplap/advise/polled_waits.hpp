// Waits of a host that asks again and again whether the GPU has finished.
#pragma once

#include "shiplap/advise/recording.hpp"

namespace shiplap {

/// Makes one call, and a wait, of each run of queries (is_query) in which a thread has waited, and removes all other
/// queries. Calls of the recording are in the order of their starts.
///
/// A run is two or more queries of one thread without another recorded call between them. The thread has waited when
/// some work ended after the last query but one had begun, and not later after the last one than the time between these
/// two, because the clocks of host and GPU differ a little. Otherwise a program looks what has ended, as memory pools
/// do, and goes on. Which stream or event was meant is inferred: it is the stream of the work that ended last.
void take_polls_for_waits(Recording&);

}  // namespace shiplap
