// Decides how a step is run: which kernels a chunk passes through while it is on the GPU, which arrays stay there, and
// how each pass is cut. No device is asked here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/interval.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/workload/step.hpp"

namespace shiplap {

struct Profile;

/// Consecutive kernels of a step that each chunk passes through while it is on the GPU.
struct StepPass {
  std::size_t first = 0;  ///< number of the first of its parts, among the parts of all repeats
  std::size_t parts = 1;  ///< how many parts
  std::size_t kind = 0;   ///< index in StepPlan::kinds
};

/// How passes of one kind are run.
struct KindOfPass {
  Job job;                                           ///< the kernels as one job, with the homes of its arrays
  std::vector<std::optional<std::size_t>> arrays{};  ///< by array of the job: its index in the step, none for scratch
  Choice choice;                                     ///< how it is cut
  Limits limits{};                                   ///< device memory that homes which it does not use leave to it
  Interval<Seconds> predicted;                       ///< predicted time of the pass alone
  Bytes in;                                          ///< bytes that it copies to the GPU
  Bytes out;                                         ///< bytes that it copies back
};

/// How a step will be run.
struct StepPlan {
  std::string name;                            ///< name of the step
  std::vector<std::string> parts{};            ///< names of its parts
  std::uint64_t repeats = 1;                   ///< how often they run
  StepArrays arrays;                           ///< the arrays of the step
  std::vector<bool> at_home{};                 ///< by array: whether memory on the GPU holds all of it
  std::vector<KindOfPass> kinds{};             ///< passes that differ
  std::vector<StepPass> passes{};              ///< in their order
  std::shared_ptr<const Schedule> schedule{};  ///< the whole step; its first buffers are the arrays
  std::vector<std::size_t> kernels{};          ///< by kernel of the schedule: the kind of its pass, or the part of the
                                               ///< host, counted from the number of kinds
  Timeline timeline{};                         ///< simulated
  Interval<Seconds> predicted{};               ///< predicted time, when what stays on the GPU is there
  Seconds part_by_part{0};  ///< predicted time of the kernels one after the other, each planned alone; 0: not asked
  Seconds bound{0};         ///< no way to run the step takes less
  Bytes in{};               ///< bytes that a step copies to the GPU
  Bytes out{};              ///< bytes that a step copies back
  Bytes device_memory{};    ///< device memory that it uses
  Limits limits{};          ///< limits of the plan

  /// What a step takes and gains, what crosses the link, and its passes, in lines of at most 80 columns (defined in
  /// report/step_plan_section.cpp).
  std::string explain() const;
};

/// Plans a step whose jobs have their kernels' costs and the kinds of memory of their arrays. A quick plan is not
/// compared with its kernels one by one. Throws UsageError for an invalid step, Unsupported with the reason when a
/// kernel cannot be run under the limits.
StepPlan plan_step(const Profile&, const Step&, const Limits&, bool quick = false);

}  // namespace shiplap
