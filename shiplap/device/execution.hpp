// A schedule that is ready to run, the options of a run, and what is observed of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shiplap/core/id.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

struct Bindings;

/// How the spans of ops are observed.
enum class Trace : std::uint8_t {
  none,     ///< no spans are observed; reported times are taken this way, because observing costs time
  best,     ///< the GPU's activity records (CUPTI) where they are available, else events
  events,   ///< events around each op, which slow the copy engines down; a span then includes the op's wait for its
            ///< engine
  kernels,  ///< events around each kernel, cheap enough to be on all the time; spans of other ops are zero
};

/// Options of a run.
struct RunOptions {
  /// Holds every stream behind a gate until all ops are submitted, so that the measured time contains no submission.
  bool hold = false;
  /// How the spans of ops are observed.
  Trace trace = Trace::none;
  /// The stream that is timed. The clock starts when its first op may begin and stops with its last op; the other
  /// streams are background load. With no stream here, the clock runs from the first op to the end of all streams.
  StreamId timed{};
  /// Returns whether the run is to stop; empty: it never is. It is called by the threads that submit or copy, before
  /// each chunk that no other thread has begun, by the calling thread every 10 ms while it waits for the others, and
  /// once for a graph, before the launch. When it returns true, no thread begins a further chunk or launches a further
  /// kernel, and Cancelled is thrown when the GPU has ended. Each chunk of an output is complete or unchanged then. For
  /// a std::stop_token: `[token] { return token.stop_requested(); }`.
  std::function<bool()> stop{};
  /// How long the host waits for the end of the run, counted from its submission; 0: without limit. When the time has
  /// passed, TimedOut is thrown and the work stays in flight, because a GPU does not give up a kernel that it has begun
  /// (see Execution::overdue). Only waits for the GPU are limited: neither a function of the caller nor a copy of
  /// pageable memory, which the driver makes while the host waits, is interrupted.
  Seconds limit{0};
};

/// Observations of one run.
struct RunResult {
  /// Makespan and spans. The makespan is measured by CUDA events, from the event before the first op to the end of all
  /// streams, or of the timed stream. Spans of ops are present when the run was traced.
  Timeline timeline;
  std::string trace_source;  ///< source of the spans, for people; empty without a trace
  /// Start and end by the host's clock of the ops that host agents perform, by op. Empty when host agents perform none.
  std::vector<Span> host_spans;
  Seconds submission{0};  ///< host time from the first call to the return of the last submitting call
  Seconds host_total{0};  ///< host time from the first call until the host knows that all work has ended
  /// Time at which the host knew that all work had ended, counted from the creation of the streams. These times are
  /// comparable between executions that share streams.
  Seconds ended{0};
};

/// Grid, block and occupancy of a kernel launch.
struct LaunchShape {
  std::uint64_t blocks = 1;             ///< number of blocks in the grid
  unsigned threads = 1;                 ///< number of threads in a block
  std::uint64_t max_blocks_per_sm = 0;  ///< resident blocks per SM by the occupancy API; 0 when unknown
};

/// A schedule that is ready to run many times. Its streams and events are created, and its checks done, once. It must
/// not be used by several threads at once. Its destructor waits for work in flight.
class Execution {
 public:
  virtual ~Execution();
  /// Makes all calls of the schedule without waiting for the GPU. The ops of host agents are done on return. The work
  /// runs after what other executions have submitted to the same streams (`Device::prepare_behind`). The execution
  /// cannot be submitted again before `wait`, and a thread that submitted a held run must wait for it before it holds
  /// another.
  ///
  /// Throws Error naming the call, the op and its chunk. After the error nothing of the run is in flight, and the
  /// execution can be run again. Every op that was submitted before the failing one has completed, and ops that were
  /// not submitted have written nothing. The failing op may have written some of its output if it is a kernel whose
  /// function threw, a batch, or an op that moves blocks. When the GPU itself has failed (a kernel that traps), every
  /// submitted op may have written some of its output, and every further call throws.
  virtual void submit(const RunOptions& = {}) = 0;
  /// Waits for the submitted run to end. Throws as `submit` does, and TimedOut when the time limit of the run passes
  /// before.
  virtual RunResult wait() = 0;
  /// Whether a run has passed its time limit and the GPU may still work on it. Until that work has ended, `submit`
  /// throws TimedOut, and the memory of the run must be neither used nor released: CUDA waits for running kernels when
  /// memory is released, and lets no other thread allocate, release or submit meanwhile.
  virtual bool overdue() const;
  /// Runs the schedule once and waits for its end. Throws as `submit` does.
  RunResult run(const RunOptions& = {});
  /// Makes the run a part of the graph that `stream`, a cudaStream_t of the caller, is being captured into: it runs at
  /// that point in every launch of the graph, and nothing is observed. What host agents do becomes host nodes. The
  /// execution must outlive the graph and what was made of it, and must not run while the graph does. Throws
  /// Unsupported for schedules that CUDA cannot capture and on a device without CUDA streams.
  virtual void capture(void* stream);
  /// Enqueues a run in `stream`, a cudaStream_t of the caller: it begins when the work that is in the stream has ended,
  /// and work that is enqueued there later begins when the run has ended. Nothing is observed, and the host waits for
  /// nothing. Access between GPUs stays on as long as the execution lives. Runs of executions that share streams follow
  /// each other, whichever streams of the caller they are enqueued in. Throws Unsupported for schedules in which the
  /// host takes part, for a stream that is being captured, and on a device without CUDA streams. After an Error the
  /// run has ended, and some of its ops may have run.
  virtual void enqueue(void* stream);
  /// From now on uses other bindings, which must fit the schedule as those before did: this is not checked. Throws
  /// Unsupported for a schedule that has other ops than single copies and host copies, and while a run is in flight.
  virtual void rebind(const Bindings&);
  /// The kernel launches of a graph, in no particular order. Empty when the schedule is not a graph.
  virtual std::vector<LaunchShape> launches() const;
};

}  // namespace shiplap
