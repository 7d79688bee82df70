// The three stages of a job, each as the time that it takes over the whole job.
#pragma once

#include "shiplap/core/units.hpp"

namespace shiplap {

/// What the papers write as t_Thd, t_E and t_Tdh: copies to the GPU, kernels, copies to the host; sums over all chunks.
struct StageTimes {
  Seconds h2d{0};     ///< copies to the GPU
  Seconds kernel{0};  ///< kernels
  Seconds d2h{0};     ///< copies to the host

  /// Of both directions, one after the other.
  constexpr Seconds transfers() const { return h2d + d2h; }
  /// The time without any overlap.
  constexpr Seconds total() const { return h2d + kernel + d2h; }
};

}  // namespace shiplap
