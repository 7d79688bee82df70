// A run of a prepared job in a thread of its own, between what a stream of the caller's does before and after.
#pragma once

#include <chrono>
#include <future>
#include <stop_token>
#include <thread>

#include "shiplap/pipeline/prepared.hpp"

namespace shiplap {

/// A run that goes on. It is waited for when this goes.
class Running {
 public:
  /// Waits for the end and gives what was observed, once. Throws what the run threw.
  RunResult wait() { return result_.get(); }
  /// Whether `wait` would return at once.
  bool has_ended() const {
    return !result_.valid() || result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  /// Before its next chunk; `wait` throws Cancelled then. What was submitted is waited for: each piece of an output is
  /// complete or as it was.
  void cancel() { stop_.request_stop(); }

 private:
  friend Running run_async(Device&, Prepared&, void* stream, RunOptions);
  std::stop_source stop_;
  std::future<RunResult> result_;
  std::jthread thread_;  // gone first
};

/// Begins when all that `stream`, a cudaStream_t, holds now has ended; what is enqueued there after this call waits for
/// the end of the run. Null: at once, and nothing waits. `prepared` must outlive it, and runs nothing else meanwhile.
/// Throws Unsupported where there are no streams, UsageError for a traced run behind one. A host function holds the
/// stream meanwhile: a kernel that enqueues host functions of its own would wait for it.
Running run_async(Device&, Prepared& prepared, void* stream = nullptr, RunOptions = {});

}  // namespace shiplap
