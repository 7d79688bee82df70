// The time of ideal overlap: that of the longest stage alone, which a pipeline of copies and kernels approaches.
#pragma once

#include <cstdint>
#include <string>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

struct Profile;
struct Schedule;

/// The time of ideal overlap (van Werkhoven et al. 2014): that of the longest stage alone. The stages are the whole
/// kernel on resident data, and the copies of the whole arrays by copy engines, H2D and D2H at the same time. A
/// pipeline of copies and kernels approaches this time from above. It is no bound: a zero-copy kernel needs no copies,
/// and the data of a chunk may stay in a cache that is too small for the whole arrays.
struct IdealOverlap {
  Interval<Seconds> time;  ///< the longer stage, with the uncertainty of the profile's rates and of the kernel's cost
  Seconds kernel{0};       ///< time of the whole kernel on resident data
  Seconds copies{0};       ///< simulated time of all copies, H2D and D2H at the same time
  /// "copies in both directions" or "kernel": the longer stage.
  std::string set_by() const { return copies >= kernel ? "copies in both directions" : "kernel"; }
};
/// Simulates ideal overlap. Throws Unsupported that names the link when the profile lacks it.
IdealOverlap ideal_overlap(const Job&, const Profile&, std::uint32_t gpus = 1);
/// The schedule of the copies' stage of ideal overlap, without ops when nothing is copied. Its first buffers are the
/// job's arrays, and the others are on the GPU. Arrays larger than `device_memory` go through a buffer that fits.
/// Several GPUs copy equal parts.
Schedule duplex_schedule(const Job&, Bytes device_memory, std::uint32_t gpus = 1);

}  // namespace shiplap
