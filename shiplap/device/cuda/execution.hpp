// A schedule that is ready to run on a GPU: its CUDA streams and events exist, and every call has its arguments.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/deadline.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/activity.hpp"
#include "shiplap/device/cuda/advice.hpp"
#include "shiplap/device/cuda/block_movers.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/device/cuda/gpu_set.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/cuda/ranges.hpp"
#include "shiplap/device/execution.hpp"
#include "shiplap/device/file_bytes.hpp"
#include "shiplap/device/host_agents.hpp"
#include "shiplap/device/host_work.hpp"
#include "shiplap/device/list_check.hpp"
#include "shiplap/device/memory.hpp"
#include "shiplap/schedule/submission.hpp"

namespace shiplap {

/// Allocates memory for an allocation op of the schedule.
using Allocate = std::function<Memory(Place, MemoryKind, Bytes)>;

/// The CUDA streams that one or several executions use.
struct CudaStreams {
  std::vector<Stream> streams;        ///< description of each stream, by StreamId
  std::vector<StreamHandle> handles;  ///< CUDA stream, by StreamId
  std::map<int, StreamHandle>
      all_ended;  ///< a stream for each GPU (by device number) that waits for all others, where several streams end
  std::chrono::steady_clock::time_point made = std::chrono::steady_clock::now();
};

/// Makes exactly the calls of `submission(schedule)`. Each stream of the schedule is a CUDA stream and each agent is a
/// thread; Place::gpu(i) is the i-th GPU of the set. Only one thread at a time may use an execution, or any of several
/// that share streams.
class CudaExecution final : public Execution {
 public:
  /// Throws as Device::prepare does. The tables, the memory and kernels of the bindings, and what `allocate` refers to
  /// must outlive the execution. Streams that are missing in `streams` are added to it.
  CudaExecution(const Schedule&, const Bindings&, GpuSet, const Api&, const RangeApi&, Allocate allocate = {},
                std::shared_ptr<CudaStreams> streams = std::make_shared<CudaStreams>());
  ~CudaExecution() override;

  /// A graph is captured when the execution is made, so `RunResult::submission` covers only its launch.
  ///
  /// The makespan is the time between the start event and the stop event. No other timing events are recorded, because
  /// a third one would make a copy engine drain, and events at the end of every stream slow a pipeline down. The start
  /// event precedes the first op (of the timed stream, if there is one). With `hold` it follows the gate; where several
  /// streams are held, it precedes all of them. The stop event follows the last op of the timed stream, or of the only
  /// stream that no other stream waits for. Where there are several such streams, it is in a further stream that waits
  /// for all of them, which adds one handover between streams (about 2 µs). Where agents perform ops themselves, GPU
  /// events cannot see the end: then, unless a stream is timed, the makespan is measured by the host's clock from the
  /// first call to the end of all work.
  ///
  /// Spans from activity records are shifted so that the last one ends at the makespan. Spans from events start when
  /// the stream has reached the op and its dependencies have ended.
  ///
  /// Throws Error when a call fails or the gate opened after its time limit. Execution::submit documents the state
  /// after an error.
  void submit(const RunOptions& options) override;
  RunResult wait() override;
  bool overdue() const override;
  void capture(void* stream) override;
  void enqueue(void* stream) override;
  void rebind(const Bindings&) override;
  std::vector<LaunchShape> launches() const override { return launches_; }
  const Schedule& schedule() const { return schedule_; }
  /// Whether the same device made this execution, for the same GPUs.
  bool is_for(const GpuSet& gpus) const { return gpus_.gates == gpus.gates; }
  const std::shared_ptr<CudaStreams>& streams() const { return streams_; }

 private:
  struct CopyCall {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0;
    cudaMemcpyKind kind = cudaMemcpyDefault;
  };
  struct KernelCall {
    KernelFunction function;
    std::vector<std::byte*> operands;
    std::vector<Bytes> lengths;
    std::vector<Bytes> origins;
    Launch launch;  ///< arguments; its spans refer to the vectors above
  };
  /// A copy or call that an agent thread performs itself.
  struct HostAction {
    bool copies = false;
    bool past_caches = false;  ///< whether the copy is to memory that nobody reads before the end of the run
    HostCall::Kind call = HostCall::Kind::touch;
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    Bytes length;
    BufferId buffer;
    Seconds work{0};
    const FileBytes* file = nullptr;  ///< what is read instead of `from`; null: memory
    Bytes in_file{};                  ///< position in it

    void copy() const {
      if (file != nullptr) return read_file(*file, in_file, to, length);
      past_caches ? copy_past_caches(to, from, length) : static_cast<void>(std::memcpy(to, from, length.count));
    }
  };
  /// The copies of a batch, which are submitted in one call.
  struct BatchCall {
    std::vector<void*> to;
    std::vector<const void*> from;
    std::vector<std::size_t> bytes;
  };
  struct PrefetchCall {
    const void* data = nullptr;
    std::size_t bytes = 0;
    int destination = 0;  ///< device number, or cudaCpuDeviceId
  };
  /// Blocks that an op moves.
  struct BlockCall {
    BlockMove move;
    Mover mover;
    std::unique_ptr<BatchArrays> batch{};  ///< null unless the mover is a batch
  };
  /// One step of the submission with all its arguments.
  struct Command {
    SubmissionStep::Kind kind = SubmissionStep::Kind::submit;
    OpId op;
    void* range = nullptr;          ///< NVTX name of the op; null without a profiler
    std::size_t awaited_agent = 0;  ///< for an await: the agent that must have completed `awaited_steps` steps
    bool awaits_host = false;       ///< for an await: whether that agent performs the awaited op itself
    std::uint32_t awaited_steps = 0;
    std::optional<HostAction> host{};
    std::optional<PrefetchCall> prefetch{};
    std::optional<BatchCall> batch{};
    std::optional<BlockCall> blocks{};
    cudaStream_t stream = nullptr;
    int gpu = 0;                         ///< GPU of the stream
    cudaEvent_t event = nullptr;         ///< event of a wait, record or finish
    bool last_of_stream = false;         ///< the last submission in its stream
    bool may_stop = false;               ///< the first step of a chunk that this agent does not take over from another
    const KernelCall* kernel = nullptr;  ///< arguments of a kernel launch
    CopyCall copy;                       ///< arguments of a copy
    cudaEvent_t before = nullptr;        ///< timing event before a traced op
    cudaEvent_t after = nullptr;         ///< timing event after a traced op
  };

  void select(int gpu) const;
  int gpu_of(StreamId) const;
  /// The NUMA node on whose cores an agent runs, if it is to keep to one.
  std::optional<std::uint16_t> node_of(std::size_t agent) const;

  // Preparation, in execution_resolve.cpp.
  void resolve(const Bindings&);
  void make_pages_of_results(const Bindings&) const;
  void give_advice(const Bindings&);
  void make_streams();
  void make_order_events(const Submission&);
  /// Whether another agent has begun the chunk of this op.
  bool takes_over(const Op&) const;
  void make_commands(const Submission&, const Bindings&);
  Command resolve(const SubmissionStep&, const Bindings&);
  void resolve_op(const Op&, const Bindings&, Command&);
  void resolve_batch(const SubmissionStep&, const Bindings&, Command&);
  void note_used_streams();
  void make_clocks();
  void make_agents();
  void name_ranges();

  // Graphs, in execution_graph.cpp.
  void make_graph();
  Graph capture(bool& refused);
  void note_launches(cudaGraph_t);
  void launch_graph();
  /// Streams that a run starts. For a graph this is the stream in which it is launched.
  std::span<const cudaStream_t> starting_streams() const;

  // A run in a stream of the caller, in execution_enqueue.cpp.
  void require_enqueueable(cudaStream_t) const;
  /// Waits for the end of what was enqueued.
  void wait_for_enqueued() noexcept;

  // A run that the caller captures, in execution_capture.cpp.
  class CapturedAgent;
  void capture(const Command&, cudaStream_t origin, std::vector<CapturedAgent>&);
  /// What a host node does for an op that an agent performs itself.
  std::function<void()> node_of(const Command&) const;

  // A run from its start to its end, in execution.cpp.
  void require_runnable(const RunOptions&) const;
  void choose_clock();
  void start();
  StreamId first_stream() const;
  void join_streams();
  void wait_for_end() const;
  RunResult observed();
  std::string source_of_trace() const;
  void check_of_run(cudaError_t, const char* call, std::string_view what) const;
  std::string kernels() const;
  void give_back() noexcept;
  /// Waits for the end of what was submitted and makes the execution ready for another run. Returns false, and changes
  /// nothing, when the deadline passes before.
  bool abandon(const Deadline&) noexcept;
  /// Abandons the run whose exception is being handled and throws it again. When the time limit passes meanwhile, it
  /// throws TimedOut with that exception inside.
  [[noreturn]] void leave_failed_run();
  bool ends_by(const Deadline&, cudaStream_t) const;
  /// Throws TimedOut while a run is overdue, and cleans up after it when it has ended.
  void leave_overdue_run();
  std::string why_timed_out(std::string_view what) const;
  [[noreturn]] void time_out(std::string_view what) const;
  bool performs_itself() const { return !host_marks_.empty(); }

  // The calls of a run, in execution_calls.cpp.
  void make_calls(std::size_t agent);
  [[noreturn]] void cancel(const Command&) const;
  /// Waits until another agent has made the steps. Returns false when it ends without them: so what another agent has
  /// begun is finished as far as it can be.
  bool await(const Command&) const;
  cudaError_t issue(const Command&, const char*& call);
  cudaError_t wait_for_event(cudaEvent_t, const char*& call) const;
  void launch(const Command&) const;
  void perform(const Command&);
  void call(const Command&, const HostAction&);
  void allocate(const Command&, const HostAction&);
  /// Calls `action` and adds the name of the op to an exception's message.
  void named(OpId, const auto& action) const;
  [[noreturn]] void fail(const Command&, cudaError_t, const char* call) const;

  // Observation of the spans of ops, in execution_trace.cpp.
  void start_trace();
  void warm_up_recording();
  void make_trace_events();
  /// Whether the current run records timing events around the op.
  bool is_marked(const Op&) const;
  Timeline timeline();
  void add_event_spans(Timeline&) const;
  void add_activity_spans(Timeline&);
  Seconds between(cudaEvent_t from, cudaEvent_t to, OpId = {}) const;

  const Api& api_;
  Ranges ranges_;
  void* run_range_ = nullptr;         ///< NVTX name of a run
  std::optional<OpenRange> running_;  ///< NVTX range of the current run
  GpuSet gpus_;
  std::optional<PeerAccess::Use> peer_use_;  ///< access between GPUs of the current run
  Schedule schedule_;
  std::optional<ListCheck> lists_;  ///< none when the schedule has no lists
  std::shared_ptr<CudaStreams> streams_;
  /// The first op that cannot be held because the host waits for it; none when the schedule can be held.
  OpId blocks_host_;
  Allocate allocate_;
  std::vector<HeldAdvice> advice_;  ///< advice on managed buffers, for as long as this execution lives
  std::vector<FileBytes> files_;    ///< files of the bindings, by BufferId
  std::vector<KernelCall> kernel_calls_;
  std::vector<std::vector<Command>> commands_;          ///< commands of each agent
  std::unique_ptr<std::atomic<std::uint32_t>[]> made_;  ///< number of commands that each agent has made in this run
  std::unique_ptr<HostAgents> agents_;                  ///< null when the caller's thread is the only agent
  std::vector<int> selected_;                           ///< GPU that each agent's thread has selected
  struct HostMark {
    std::chrono::steady_clock::time_point start;
    std::chrono::steady_clock::time_point end;
  };
  RunOptions options_;                               ///< options of the current run
  Deadline deadline_;                                ///< time limit of the current run
  bool enqueued_ = false;                            ///< a run was enqueued in a stream of the caller
  bool in_flight_ = false;                           ///< a run was submitted and has not been waited for
  bool overdue_ = false;                             ///< the run in flight has passed its time limit
  std::chrono::steady_clock::time_point began_;      ///< time of the first call of the current run
  std::chrono::steady_clock::time_point submitted_;  ///< time when the last call of the current run returned
  std::vector<HostMark> host_marks_;   ///< times of ops that agents perform, by op; empty where there are none
  std::vector<Memory> allocated_;      ///< memory that ops of the schedule have allocated, by buffer
  std::mutex obtained_guard_;          ///< guards the next two members, which several agents change
  std::vector<StreamHandle> created_;  ///< streams that ops have created and not yet destroyed
  std::vector<Memory> pinned_;         ///< memory that ops have pinned and not yet unpinned
  std::vector<Event> order_events_;
  std::vector<Event> end_marks_;
  std::vector<StreamId> ending_streams_;  ///< `end_marks_[i]` is recorded at the end of stream i of these
  /// The events that time runs on one GPU. A run uses the events of the GPU of its first stream, or of the timed
  /// stream.
  struct GpuClock {
    Event start;
    Event stop;
    cudaStream_t all_ended = nullptr;  ///< stream that waits for all streams, where several end
  };
  std::map<int, GpuClock> clocks_;   ///< by device number
  GpuClock* clock_ = nullptr;        ///< events of the current run
  int clock_gpu_ = 0;                ///< GPU of these events
  cudaStream_t stopping_ = nullptr;  ///< stream whose last op stops the clock of the current run; null: all streams
  std::vector<Event> trace_marks_;   ///< timing events before and after each op, created by the first run that needs
                                     ///< them
  std::optional<ActivityRecording> recording_;  ///< CUPTI recording of the current run
  bool by_events_ = false;                      ///< whether the current run is traced by events
  std::string why_by_events_;                   ///< reason why no activity records are used

  std::vector<StreamId> used_streams_;      ///< streams that have ops, in the order of their first ops
  std::vector<cudaStream_t> used_handles_;  ///< their CUDA streams
  std::optional<Gates::Use> gate_;          ///< gate of the current run, when it is held
  ExecutableGraph graph_;                   ///< graph of the schedule; null when it is not submitted as a graph
  std::vector<LaunchShape> launches_;       ///< kernel launches of the graph
};

}  // namespace shiplap
