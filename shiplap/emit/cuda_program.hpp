// Writes a plan as one self-contained CUDA program. It compiles with plain nvcc, makes the calls that shiplap would
// make, times them and verifies the result.
#pragma once

#include <optional>
#include <string>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {

/// Facts that the first comment of a program mentions besides the choice.
struct EmitNotes {
  std::string command;  ///< command that wrote the program; may be empty
  std::string profile;  ///< name and hash of the profile
  std::optional<Interval<Seconds>> predicted;
  std::string file{"pipeline.cu"};  ///< name of the file that the program is written into
};

/// Writes the program. It makes the calls of `submission(schedule)`, in loops over the chunks where that is possible.
/// The schedule must come from a strategy for this job and choice. An array that is blocks of a pool becomes a pool and
/// a list of indices, which the program checks before every run. Throws Unsupported for several GPUs, for ops that no
/// strategy uses (allocations), and for results to be verified in a list that is longer than its pool.
///
/// Names of the job and texts of the notes may come from files of others: they occur only as identifiers, in which '_'
/// stands for what these cannot have, and in comments of one line.
std::string cuda_program(const Workload&, const Choice&, const Schedule&, const EmitNotes& = {});

}  // namespace shiplap
