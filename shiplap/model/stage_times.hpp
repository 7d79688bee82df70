// The three stages of a job, each as the time that it takes over the whole job.
#pragma once

#include "shiplap/core/units.hpp"

namespace shiplap {

/// What the papers write as t_Thd, t_E and t_Tdh: copies to the GPU, kernels, copies to the host; sums over all chunks.
struct StageTimes {
  Seconds h2d{0};
  Seconds kernel{0};
  Seconds d2h{0};

  constexpr Seconds transfers() const { return h2d + d2h; }
  /// The time without any overlap.
  constexpr Seconds total() const { return h2d + kernel + d2h; }
};

}  // namespace shiplap
