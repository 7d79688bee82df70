// The decision on a job: the ranking of all strategies, the choice, and whether arrays are pinned for it.
#pragma once

#include <memory>

#include "shiplap/plan/ranking.hpp"

namespace shiplap {

struct MemoryChoice;

/// How a job will be run, and what else was weighed.
struct Decision {
  Job job;             ///< the job with its kernel cost and the kind of memory that it will run from
  Ranking ranking;     ///< all strategies for the kind of memory of `job`
  Candidate chosen;    ///< the choice, with its schedule
  Limits limits;       ///< device memory and resident threads that schedules may use, in planning and in runs
  bool pins = false;   ///< whether arrays are pinned while the job is prepared
  Seconds pinning{0};  ///< predicted time of pinning and unpinning, once
  /// Predicted time by which the first run is longer, because it copies the arrays that stay on the GPU (Array::kept).
  Seconds time_of_kept_copies{0};
  /// Ways to prepare pageable arrays (memory_choice.hpp); null without any, or without `may_pin`.
  std::shared_ptr<const MemoryChoice> memory{};
};

}  // namespace shiplap
