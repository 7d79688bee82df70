// The processor time of a thread, for tests of how time grows: other programs on the machine do not count.
#pragma once

#include <ctime>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// What the calling thread has taken so far.
inline Seconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return Seconds{static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec)};
}

}  // namespace shiplap
