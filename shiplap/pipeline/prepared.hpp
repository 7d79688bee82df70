// A job ready to run with one choice: its schedule, device memory and the device's preparations, for any number of
// runs.
#pragma once

#include <memory>
#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

struct Schedule;

/// A schedule with its memory, ready to run many times. It shares nothing with other prepared jobs, so several can run
/// at the same time. One thread at a time may use a Prepared.
class Prepared {
 public:
  /// Runs the schedule once and waits for the end. Pages of managed arrays are brought back to the host first, untimed.
  /// Throws as Execution::run does.
  RunResult run(const RunOptions& = {});
  /// Submits a run and returns before its end; `wait` must follow. Meanwhile other prepared jobs that share its streams
  /// can be submitted.
  void submit(const RunOptions& = {});
  /// Waits for the end of the submitted run and returns what was observed.
  RunResult wait();
  /// The kernel launches of a graph (see Execution::launches).
  std::vector<LaunchShape> launches() const { return execution_->launches(); }
  /// The schedule that runs.
  const Schedule& schedule() const { return *schedule_; }

  /// Binds the first buffers of the schedule to `given` and the others to memory that it allocates. With `behind`, the
  /// schedule runs in the streams of that prepared job (see Device::prepare_behind). `lists` are the indices of the
  /// schedule's block lists; they are read in every run and outlive the object.
  Prepared(Device&, Schedule, std::vector<std::byte*> given, const KernelBinding&, const Prepared* behind = nullptr,
           std::vector<IndexList> lists = {});
  /// Takes ownership of memory that the runs need.
  void keep(std::vector<Memory>);
  /// The memory of a buffer that the constructor allocated.
  const Memory& own(BufferId) const;

 private:
  void read_lists();

  std::shared_ptr<const Schedule> schedule_;
  std::size_t given_ = 0;
  std::vector<IndexList> lists_;                    ///< indices of the caller, by BlockListId
  std::vector<std::vector<std::uint32_t>> narrow_;  ///< the same as the device reads them; empty for a list that it
                                                    ///< reads itself
  std::vector<Memory> own_;
  std::vector<Memory> kept_;
  std::unique_ptr<Execution> bring_back_;  ///< moves managed pages to the host; null without managed arrays
  std::unique_ptr<Execution> execution_;
};

/// Addresses of the arrays of the job. Throws UsageError for an array of which only the shape is known, and for two
/// arrays that overlap when one of them is written.
std::vector<std::byte*> data_of(const Job&);

/// The indices of all arrays of the job that are blocks of a pool, in the order of the arrays.
std::vector<IndexList> lists_of(const Job&);

/// Prepares a candidate of a ranking of this job; the candidate holds the schedule. Throws as the device does.
Prepared prepare(Device&, const Job&, const Candidate&);
/// Builds the schedule of a choice and prepares it. Throws as the strategy and the device do.
Prepared prepare(Device&, const Job&, const Choice&, const Limits&);

}  // namespace shiplap
