// A job ready to run with one choice: its schedule, device memory and the device's preparations, for any number of
// runs.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

struct Bindings;

struct Plan;
struct Schedule;

/// A schedule with its memory, ready to run many times. It keeps its device (`shared_device`). It shares nothing with
/// other prepared jobs, so several can run at the same time. One thread at a time may use a Prepared. While a run is
/// overdue (Execution::overdue), the destructor releases nothing, so that it does not wait for a kernel that never
/// ends; the memory stays with the process.
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
  /// Makes the run a part of the graph that `stream`, a cudaStream_t, is being captured into (see Execution::capture).
  /// Lists of indices are read now. This object must outlive the graph. Throws Unsupported for managed arrays.
  void capture(void* stream);
  /// Says that the caller has changed a kept array (`DescribedJob::kept`): the next run copies it to the GPU again,
  /// before its clock starts. Launches of a graph that has captured a run (`capture`) copy nothing. Throws UsageError
  /// unless a kept array of the job has this name.
  void changed(std::string_view array);
  /// Says so of all kept arrays.
  void changed();
  /// Copies a kept array that kernels write (`DescribedJob::kept_state`) to the caller's memory, and waits; of the
  /// options, `stop` and `limit` count. Throws UsageError for another array, and Error before the first run, after a
  /// run that failed until `changed`, and while a run is in flight. Launches of graphs are not known: the caller waits
  /// for them.
  void fetch(std::string_view array, const RunOptions& = {});
  /// Copies all of them back. Throws Error as for one.
  void fetch(const RunOptions& = {});
  /// With true, each run reads the caller's memory of all kept arrays first, and throws Error when one has changed
  /// since it was copied, or since the first checked run, and `changed` was not called. It costs about the time of
  /// reading the arrays, so it is for tests.
  void check_kept(bool on);
  /// The kernel launches of a graph (see Execution::launches).
  std::vector<LaunchShape> launches() const;
  /// Whether a run has passed its time limit and still uses the memory (see Execution::overdue).
  bool overdue() const;
  /// The schedule that runs.
  const Schedule& schedule() const;

  /// Binds the first buffers of the schedule to `given` and the others to memory that it allocates. With `behind`, the
  /// schedule runs in the streams of that prepared job (see Device::prepare_behind). `lists` are the indices of the
  /// schedule's block lists; they are read in every run and outlive the object.
  Prepared(Device&, Schedule, std::vector<std::byte*> given, const KernelBinding&, const Prepared* behind = nullptr,
           std::vector<IndexList> lists = {});
  /// Does so with a function for each kernel of the schedule. `given.buffers` are the first buffers.
  Prepared(Device&, Schedule, Bindings given, const Prepared* behind = nullptr, std::vector<IndexList> lists = {});
  /// Takes ownership of memory that the runs need.
  void keep(std::vector<Memory>);
  /// The memory of a buffer that the constructor allocated.
  const Memory& own(BufferId) const;

 private:
  struct Parts;
  /// Deletes the parts unless the GPU still uses them.
  struct Release {
    void operator()(Parts*) const;
  };
  void read_lists();
  void require_no_run(std::string_view call) const;

  std::unique_ptr<Parts, Release> parts_;
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
/// Prepares the choice of a plan for repeated runs over the arrays of `job`, which must have the shape of the planned
/// job. If the plan pins arrays, they are pinned as long as the result lives.
Prepared prepare(Device&, const Plan&, const Job&);

}  // namespace shiplap
