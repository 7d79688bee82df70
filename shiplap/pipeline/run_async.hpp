// Runs a prepared job in a thread of its own, in its turn within a stream of the caller.
#pragma once

#include <future>
#include <stop_token>
#include <thread>

#include "shiplap/pipeline/prepared.hpp"

namespace shiplap {

/// A run in flight. The destructor waits for its end.
class Running {
 public:
  /// Waits for the end and returns what was observed. Throws what the run threw.
  RunResult wait() const { return result_.get(); }
  /// Whether `wait` would return at once.
  bool has_ended() const { return wait_for(Seconds{0}); }
  /// Waits for the end, but for at most this time. Returns whether `wait` would return at once.
  bool wait_for(Seconds time) const { return !result_.valid() || result_.wait_for(time) == std::future_status::ready; }
  /// Ends the run before its next chunk, or while it still waits for the work that the caller's stream holds; `wait`
  /// then throws Cancelled. Submitted chunks are finished, so the part of an output that belongs to a chunk is either
  /// complete or unchanged.
  void cancel() { stop_.request_stop(); }

 private:
  friend Running run_async(Device&, Prepared&, void* stream, RunOptions);
  std::stop_source stop_;
  std::shared_future<RunResult> result_;
  std::jthread thread_;  // joined before the members above are destroyed
};

/// Starts a run in a thread of its own. The run begins when all work that `stream`, a cudaStream_t, holds at this call
/// has ended, and work that is enqueued there after this call waits for the end of the run. With a null stream the run
/// begins at once and no stream waits for it. The time limit of the options counts from this call. When it passes
/// before the run has begun, nothing of the run is submitted. `prepared` must outlive the run and must not run anything
/// else meanwhile. A host function holds the stream during the run, so a kernel must not enqueue host functions of its
/// own: they would wait for it.
///
/// When `stream` is being captured, the run becomes a part of the graph (see Prepared::capture): it runs in every
/// launch of the graph, `wait` returns at once, and nothing is observed.
///
/// Throws Unsupported on a device without streams and for a run that CUDA cannot capture, UsageError for a traced run
/// within a stream.
Running run_async(Device&, Prepared& prepared, void* stream = nullptr, RunOptions = {});

}  // namespace shiplap
