// A run of a prepared job in a thread of its own, between what a stream of the caller's does before and after.
#pragma once

#include <chrono>
#include <future>
#include <stop_token>
#include <thread>

#include "shiplap/pipeline/prepared.hpp"

namespace shiplap {

/// A run in flight. The destructor waits for its end.
class Running {
 public:
  /// Waits for the end and gives what was observed, once. Throws what the run threw.
  RunResult wait() { return result_.get(); }
  /// Whether `wait` would return at once.
  bool has_ended() const {
    return !result_.valid() || result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  /// Ends the run before its next chunk; `wait` then throws Cancelled. What was submitted is waited for, so that the
  /// part of an output that belongs to a chunk is complete or as it was.
  void cancel() { stop_.request_stop(); }

 private:
  friend Running run_async(Device&, Prepared&, void* stream, RunOptions);
  std::stop_source stop_;
  std::future<RunResult> result_;
  std::jthread thread_;  // joined before the members above are destroyed
};

/// Starts a run in a thread of its own. The run begins when all work that `stream`, a cudaStream_t, holds at this call
/// has ended, and what is enqueued there after this call waits for the end of the run. With a null stream the run
/// begins at once and nothing waits for it. `prepared` must outlive the run and must not run anything else meanwhile.
/// Throws Unsupported where there are no streams, UsageError for a traced run behind a stream. A host function holds
/// the stream during the run, so that a kernel that enqueues host functions of its own would wait for it.
Running run_async(Device&, Prepared& prepared, void* stream = nullptr, RunOptions = {});

}  // namespace shiplap
