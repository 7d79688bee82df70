// A plan as one CUDA program that stands alone: compiles with plain nvcc, runs what shiplap would run, times and
// verifies it.
#pragma once

#include <optional>
#include <string>

#include "shiplap/core/statistics.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {

/// What the first comment of a program says beside the choice.
struct EmitNotes {
  std::string command;  ///< that wrote it; may be empty
  std::string profile;  ///< name and hash
  std::optional<Interval<Seconds>> predicted;
};

/// The program makes the calls of `submission(schedule)`, in loops over the chunks where the schedule has such. The
/// schedule must be one of the strategies for this job under this choice. Throws Unsupported for ops that no strategy
/// has (copies in batches, allocations, several GPUs).
std::string cuda_program(const Workload&, const Choice&, const Schedule&, const EmitNotes& = {});

}  // namespace shiplap
