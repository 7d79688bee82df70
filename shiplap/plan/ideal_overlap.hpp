// The time of ideal overlap: that of the longest stage alone, which a pipeline of copies and kernels approaches.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/strategy/relay.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

struct Profile;

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
/// Simulates ideal overlap. With `relays` the copies take the least of the times by the own link and by each of them.
/// Throws Unsupported that names the link when the profile lacks it.
IdealOverlap ideal_overlap(const Job&, const Profile&, std::uint32_t gpus = 1, std::span<const Relay> relays = {});

}  // namespace shiplap
