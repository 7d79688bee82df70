// A job made ready to run under a choice: schedule, device memory and everything the device has to set up, kept for as
// many runs as wanted.
#pragma once

#include <memory>
#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// A schedule with its memory, ready to run many times. It shares nothing with other prepared jobs, so that several can
/// run at once. One of them is used by one thread at a time.
class Prepared {
 public:
  /// Runs the schedule once and waits for the end. Pages of managed arrays are brought back to the host first, untimed.
  /// Throws as Execution::run does.
  RunResult run(const RunOptions& = {});
  /// Submits a run without waiting for its end: the first half of `run`. Until `wait`, other prepared jobs that share
  /// its streams can be submitted.
  void submit(const RunOptions& = {});
  /// Waits for the end of what was submitted: the second half of `run`.
  RunResult wait();
  /// The kernel launches of a graph (see Execution::launches).
  std::vector<LaunchShape> launches() const { return execution_->launches(); }
  /// The schedule that runs.
  const Schedule& schedule() const { return schedule_; }

  /// Binds the first buffers of the schedule to `given` and the others to memory that is allocated for them. With
  /// `behind`, the schedule runs in the streams of that one (see Device::prepare_behind).
  Prepared(Device&, Schedule, std::vector<std::byte*> given, const KernelBinding&, const Prepared* behind = nullptr);
  /// Takes over memory that must live as long as this.
  void keep(std::vector<Memory>);
  /// The memory of a buffer that was not given.
  const Memory& own(BufferId) const;

 private:
  Schedule schedule_;
  std::size_t given_ = 0;
  std::vector<Memory> own_;
  std::vector<Memory> kept_;
  std::unique_ptr<Execution> bring_back_;  ///< none without managed arrays
  std::unique_ptr<Execution> execution_;
};

/// Addresses of the arrays of the job. Throws UsageError for an array of which only the shape is known, and for two
/// arrays that overlap when one of them is written.
std::vector<std::byte*> data_of(const Job&);

/// Prepares a candidate of a ranking of this job; the candidate holds the schedule. Throws as the device does.
Prepared prepare(Device&, const Job&, const Candidate&);
/// Builds the schedule of a choice and prepares it. Throws as the strategy and the device do.
Prepared prepare(Device&, const Job&, const Choice&, const Limits&);

}  // namespace shiplap
