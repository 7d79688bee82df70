// What a caller of `plan` may ask for.
#pragma once

#include <cstdint>

#include "shiplap/pipeline/probe.hpp"
#include "shiplap/plan/ranking.hpp"

namespace shiplap {

/// What may be chosen for a job, and how the job will be used.
struct PlanOptions {
  SearchSpace space{};     ///< strategies, chunks, layouts, GPUs; the plan chooses what is left empty
  Bytes device_memory{0};  ///< most device memory that the job may use on each GPU; 0: as much as the node allows
  std::uint64_t runs = 1;  ///< number of runs over the same arrays, which decides whether pinning pays
  bool may_pin = true;     ///< whether pageable arrays may be pinned where that pays over `runs`
  /// Time of runs in which the best candidates race on the job's own arrays (race.hpp), unless the winner of such a job
  /// is cached; 0: the plan decides by its predictions. The arrays hold the same values afterwards, except `out`
  /// arrays.
  Seconds race{0};
  bool race_anew = false;  ///< whether the candidates race although a winner is cached
  ProbeOptions probe{};    ///< limits of the measurement of the kernel
  /// Runs a few chunks one by one, with poisoned bytes around their reach, and throws CheckFailed when the kernel reads
  /// or writes what the job does not declare (check_reach.hpp).
  bool check_reach = false;
  /// Plans within milliseconds, for a job whose first run must not wait: the kernel is neither captured nor measured,
  /// its time is derived from the bytes of the job unless the job states it, no array is pinned, and copies in a few
  /// numbers of equal chunks are compared.
  bool quick = false;
};

}  // namespace shiplap
