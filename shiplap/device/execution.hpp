// A schedule made ready to run: how a run is asked for, and what is observed of it.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// How the spans of ops are observed.
enum class Trace : std::uint8_t {
  none,     ///< no spans; headline times are taken so, because observing costs time
  best,     ///< by the GPU's own activity records where they can be had, else by events
  events,   ///< by events around each op, which slow the engines down; a span then begins with the op's wait for its
            ///< engine
  kernels,  ///< by events around each kernel: cheap enough to be on all the time. Spans of other ops are zero.
};

/// How a schedule is run and what is observed.
struct RunOptions {
  /// Holds every stream behind a gate until all ops are submitted, so that no time contains submission.
  bool hold = false;
  /// How the spans of ops are observed.
  Trace trace = Trace::none;
  /// The stream that is timed: the clock starts when its first op may begin and stops with its last one, and the other
  /// streams are load beside it. None: the clock runs from the first op to the end of all streams.
  StreamId timed{};
  /// Looked at before each chunk. When it asks to stop, nothing more is submitted, what was submitted is waited for,
  /// and Cancelled is thrown. For a graph it is looked at once, before the launch.
  std::stop_token stop{};
};

/// What was observed of one run.
struct RunResult {
  /// The makespan goes by device events from the mark in front of the first op to the end of all streams, or of the
  /// stream that is timed. It holds spans of every op when the run was traced.
  Timeline timeline;
  std::string trace_source;  ///< what observed the spans, for people; empty without a trace
  /// By op, start and end by the host's clock of the ops that host agents perform. Empty when there are none.
  std::vector<Span> host_spans;
  Seconds submission{0};  ///< host time from the first call to the return of the last submitting call
  Seconds host_total{0};  ///< host time from the first call until the host knows that all work has ended
  /// The moment at which the host knew that, counted from when the streams were made. The moments of executions that
  /// share streams can be compared.
  Seconds ended{0};
};

/// Grid, block and occupancy of a kernel launch.
struct LaunchShape {
  std::uint64_t blocks = 1;             ///< number of blocks in the grid
  unsigned threads = 1;                 ///< number of threads in a block
  std::uint64_t max_blocks_per_sm = 0;  ///< by the occupancy API; 0 when unknown
};

/// A schedule made ready to run many times: its streams, events and checks were made once. It is not for use by several
/// threads at once. Its destructor waits for what is in flight.
class Execution {
 public:
  virtual ~Execution() = default;
  /// Makes all calls of the schedule and does not wait for their end; what host agents do is done on return. The calls
  /// come behind what other executions have submitted to the same streams (`Device::prepare_behind`). The execution
  /// cannot be submitted again before `wait`, and a thread that submitted a held run waits for it before it holds
  /// another.
  ///
  /// Throws Error naming the call, the op and its chunk. Then nothing of the run is in flight any more, and it can be
  /// run again. Every op that was submitted before has written all that it writes, and no op was submitted before those
  /// that it depends on; ops that were not submitted have written nothing. The op that failed may have written a part:
  /// a kernel whose function threw, or a batch. When the GPU itself has failed (a kernel that traps), every submitted
  /// op may have written a part, and every further call throws.
  virtual void submit(const RunOptions& = {}) = 0;
  /// Waits for the end of what was submitted. Throws as `submit` does.
  virtual RunResult wait() = 0;
  /// Runs the schedule once and waits for its end. Throws as `submit` does.
  RunResult run(const RunOptions& options = {}) {
    submit(options);
    return wait();
  }
  /// The kernel launches of a graph, in no particular order. Empty when the schedule is not a graph.
  virtual std::vector<LaunchShape> launches() const { return {}; }
};

/// A place in a stream of the caller's. Work that was enqueued before can be waited for, and work that is enqueued
/// after waits until the gap is released or destroyed.
class StreamGap {
 public:
  virtual ~StreamGap() = default;
  /// The host waits for all that was enqueued before the gap. Throws Error when that work failed.
  virtual void wait() = 0;
  /// Lets the work after the gap begin.
  virtual void release() noexcept = 0;
};

}  // namespace shiplap
