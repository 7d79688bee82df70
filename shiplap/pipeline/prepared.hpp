// A job made ready to run under a choice: schedule, device memory and everything the device has to set up, kept for as
// many runs as wanted.
#pragma once

#include <memory>
#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Shares nothing with others: several can run at once, each in one thread at a time.
class Prepared {
 public:
  /// Runs it once and waits for the end. Pages of managed arrays are brought back to the host first, untimed. Throws as
  /// Execution::run does.
  RunResult run(const RunOptions& = {});
  /// The two halves of `run`, as Execution has them: between them others that share the streams can be submitted.
  void submit(const RunOptions& = {});
  RunResult wait();  ///< see submit
  /// The kernels of a graph: see Execution::launches.
  std::vector<LaunchShape> launches() const { return execution_->launches(); }
  /// What is run.
  const Schedule& schedule() const { return schedule_; }

  /// The first buffers of the schedule are bound to `given`, the others to memory of their own. With `behind` in the
  /// streams of that one: see Device::prepare_behind.
  Prepared(Device&, Schedule, std::vector<std::byte*> given, const KernelBinding&, const Prepared* behind = nullptr);
  /// Memory that has to live as long.
  void keep(std::vector<Memory>);
  /// Where a buffer that was not given lies.
  const Memory& own(BufferId) const;

 private:
  Schedule schedule_;
  std::size_t given_ = 0;
  std::vector<Memory> own_;
  std::vector<Memory> kept_;
  std::unique_ptr<Execution> bring_back_;  ///< none without managed arrays
  std::unique_ptr<Execution> execution_;
};

/// Where the job's arrays are. Throws UsageError for one of which only the shape is known, and for two that overlap
/// when one of them is written.
std::vector<std::byte*> data_of(const Job&);

/// Prepares a candidate of a ranking of this job, whose schedule is at hand. Throws as the device does.
Prepared prepare(Device&, const Job&, const Candidate&);
/// Builds the schedule of a choice and prepares it. Throws as the strategy and the device do.
Prepared prepare(Device&, const Job&, const Choice&, const Limits&);

}  // namespace shiplap
