// The time of ideal overlap: that of the longest stage alone, which a pipeline of copies and kernels approaches.
#pragma once

#include <cstdint>
#include <string>

#include "shiplap/core/statistics.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The time of ideal overlap (van Werkhoven et al. 2014): that of the longest stage alone, where the stages are the
/// whole kernel on resident data and the copies of the whole arrays by copy engines in both directions at once. A
/// pipeline of copies and kernels approaches it from above. It is no bound: a zero-copy kernel needs no copies, and
/// chunks may stay in a cache that the whole arrays do not fit in.
struct IdealOverlap {
  Interval<Seconds> time;  ///< the longer stage, with the uncertainty of the profile's rates and of the kernel's cost
  Seconds kernel{0};       ///< time of the whole kernel on resident data
  Seconds copies{0};       ///< simulated time of all copies, in both directions at once
  /// "copies in both directions" or "kernel": the longer stage.
  std::string set_by() const { return copies >= kernel ? "copies in both directions" : "kernel"; }
};
/// Simulates ideal overlap. Throws Unsupported naming the link that the profile does not have.
IdealOverlap ideal_overlap(const Job&, const Profile&, std::uint32_t gpus = 1);
/// The schedule whose makespan, held, is the copies' stage of ideal overlap; empty of ops when nothing is copied.
/// Buffers: the job's arrays, then buffers on the GPU. Arrays larger than the device memory that may be used go through
/// a buffer that fits. Several GPUs copy equal parts.
Schedule duplex_schedule(const Job&, Bytes device_memory, std::uint32_t gpus = 1);

}  // namespace shiplap
