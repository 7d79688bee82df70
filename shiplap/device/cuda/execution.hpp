// A schedule made ready to run on a GPU: streams for its streams, events for its dependencies, every call resolved.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/activity.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/device/cuda/gpu_set.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/cuda/ranges.hpp"
#include "shiplap/device/execution.hpp"
#include "shiplap/device/host_agents.hpp"
#include "shiplap/device/memory.hpp"
#include "shiplap/schedule/submission.hpp"

namespace shiplap {

/// How the execution obtains memory for an allocation of its schedule.
using Allocate = std::function<Memory(Place, MemoryKind, Bytes)>;

/// The streams of one execution, or of several that are submitted one behind another.
struct CudaStreams {
  std::vector<Stream> streams;        ///< what they are, by StreamId
  std::vector<StreamHandle> handles;  ///< by StreamId
  std::map<int, StreamHandle>
      all_ended;  ///< by the runtime's number of a GPU: waits for every stream, where several end
  std::chrono::steady_clock::time_point made = std::chrono::steady_clock::now();
};

/// Makes exactly the calls of `submission(schedule)`. A stream is a stream and an agent is a thread; Place::gpu(i) is
/// the i-th of the GPUs that the execution was made for. One thread at a time may use an execution, or any of several
/// that share streams.
class CudaExecution final : public Execution {
 public:
  /// Throws as Device::prepare does. The tables must outlive the execution; so must the memory and kernels of the
  /// bindings, and what `allocate` needs. Streams that `streams` does not have are added to it.
  CudaExecution(const Schedule&, const Bindings&, GpuSet, const Api&, const RangeApi&, Allocate allocate = {},
                std::shared_ptr<CudaStreams> streams = std::make_shared<CudaStreams>());
  ~CudaExecution() override;

  /// A graph was captured when the execution was made, so `RunResult::submission` covers its launch alone.
  ///
  /// The makespan goes from the start mark to the stop mark. Only these two events take the time: a third one would
  /// make a copy engine drain, and events behind every stream slow a pipeline down. The start mark is in front of the
  /// first op (of the timed stream's first op), and with `hold` behind the gate; where several streams are held, it is
  /// in front of all of them. The stop mark is behind the last op of the stream that is timed, or that ends alone.
  /// Where several streams end, it is in a further stream that waits for all of them, which adds one hop between
  /// streams (about 2 µs). Where agents perform ops themselves, the clock of the GPU does not see the end: then, unless
  /// a stream is timed, the makespan is the host's, from the first call to the end of all work.
  ///
  /// Spans by activity records are moved so that the last one ends with the makespan. Spans by events go from the
  /// moment at which the op's stream had come to the op, and its dependencies had ended, to the op's end.
  ///
  /// Throws Error when a call fails or the gate opened by itself. Execution::submit says what is left behind then.
  void submit(const RunOptions& options) override;
  RunResult wait() override;
  std::vector<LaunchShape> launches() const override { return launches_; }
  const Schedule& schedule() const { return schedule_; }
  /// Whether it was made for these GPUs by the same device.
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
    Launch launch;  ///< refers to the vectors above
  };
  /// A copy or call that an agent performs itself.
  struct HostAction {
    bool copies = false;
    HostCall::Kind call = HostCall::Kind::touch;
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    Bytes length;
    BufferId buffer;
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
    int destination = 0;  ///< a device, or cudaCpuDeviceId
  };
  /// One step of the submission with everything looked up.
  struct Command {
    Step::Kind kind = Step::Kind::submit;
    OpId op;
    void* range = nullptr;          ///< the op's name for a profiler; null when nobody listens
    std::size_t awaited_agent = 0;  ///< for an await: this agent must have made `awaited_steps` of its steps
    std::uint32_t awaited_steps = 0;
    std::optional<HostAction> host{};
    std::optional<PrefetchCall> prefetch{};
    std::optional<BatchCall> batch{};
    cudaStream_t stream = nullptr;
    int gpu = 0;                         ///< the GPU of the stream
    cudaEvent_t event = nullptr;         ///< for a wait, record or finish
    bool last_of_stream = false;         ///< a submission behind which the stream has no other
    bool begins_chunk = false;           ///< the agent did another chunk before
    const KernelCall* kernel = nullptr;  ///< for a submitted kernel
    CopyCall copy;                       ///< for a submitted copy
    cudaEvent_t before = nullptr;        ///< the mark in front of a traced op
    cudaEvent_t after = nullptr;         ///< the mark behind it
  };

  void select(int gpu) const;
  int gpu_of(StreamId) const;

  // Getting ready: execution_resolve.cpp.
  void resolve(const Bindings&);
  void make_streams();
  void make_order_events(const Submission&);
  void make_commands(const Submission&, const Bindings&);
  Command resolve(const Step&, const Bindings&);
  void resolve_op(const Op&, const Bindings&, Command&);
  void resolve_batch(const Step&, const Bindings&, Command&);
  void note_used_streams();
  void make_clocks();
  void make_agents();
  void name_ranges();

  // Graphs: execution_graph.cpp.
  void make_graph();
  Graph capture(bool& refused);
  void note_launches(cudaGraph_t);
  void launch_graph();
  /// The streams that a run holds and starts: of a graph the one that it is launched in.
  std::span<const cudaStream_t> starting_streams() const;

  // A run from its start to its end: execution.cpp.
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
  void abandon() noexcept;
  bool performs_itself() const { return !host_marks_.empty(); }

  // The calls of a run: execution_calls.cpp.
  void make_calls(std::size_t agent);
  [[noreturn]] void cancel(const Command&) const;
  void await(const Command&) const;
  cudaError_t issue(const Command&, const char*& call);
  void launch(const Command&) const;
  void perform(const Command&);
  void call(const Command&, const HostAction&);
  void allocate(const Command&, const HostAction&);
  /// Does `action`, and adds the name of the op to what it throws.
  void named(OpId, const auto& action) const;
  [[noreturn]] void fail(const Command&, cudaError_t, const char* call) const;

  // Observing the spans of ops: execution_trace.cpp.
  void start_trace();
  void warm_up_recording();
  void make_trace_events();
  /// Whether the present run takes marks around the op.
  bool is_marked(const Op&) const;
  Timeline timeline();
  void add_event_spans(Timeline&) const;
  void add_activity_spans(Timeline&);
  Seconds between(cudaEvent_t from, cudaEvent_t to, OpId = {}) const;

  const Api& api_;
  Ranges ranges_;
  void* run_range_ = nullptr;         ///< the name of a run for a profiler
  std::optional<OpenRange> running_;  ///< the range of the present run
  GpuSet gpus_;
  Schedule schedule_;
  std::shared_ptr<CudaStreams> streams_;
  /// The first op that cannot be held because the host waits for it; none when all can.
  OpId blocks_host_;
  Allocate allocate_;
  std::vector<KernelCall> kernel_calls_;
  std::vector<std::vector<Command>> commands_;          ///< by agent
  std::unique_ptr<std::atomic<std::uint32_t>[]> made_;  ///< by agent, the number of commands it has made in this run
  std::unique_ptr<HostAgents> agents_;                  ///< null when there is one agent, the caller's thread
  std::vector<int> selected_;                           ///< by agent, the GPU that its thread has selected
  struct HostMark {
    std::chrono::steady_clock::time_point start;
    std::chrono::steady_clock::time_point end;
  };
  RunOptions options_;                               ///< those of the present run
  bool in_flight_ = false;                           ///< a run was submitted and not waited for
  std::chrono::steady_clock::time_point began_;      ///< the first call of the present run
  std::chrono::steady_clock::time_point submitted_;  ///< the return of its last call
  std::vector<HostMark> host_marks_;   ///< by op, the times of those that agents perform; empty where there are none
  std::vector<Memory> allocated_;      ///< by buffer, what ops of the schedule have allocated
  std::mutex obtained_guard_;          ///< guards the two below, which several agents change
  std::vector<StreamHandle> created_;  ///< streams that ops of the schedule have created and not destroyed yet
  std::vector<std::byte*> pinned_;     ///< memory that ops of the schedule have pinned and not unpinned yet
  std::vector<Event> order_events_;
  std::vector<Event> end_marks_;
  std::vector<StreamId> ending_streams_;  ///< `end_marks_[i]` is the end of this stream
  /// The clock of one GPU. A run goes by the clock of the GPU whose stream it starts with, or of the timed stream's
  /// GPU.
  struct GpuClock {
    Event start;
    Event stop;
    cudaStream_t all_ended = nullptr;  ///< waits for the ends of all streams, where several end
  };
  std::map<int, GpuClock> clocks_;   ///< by the runtime's number of the GPU
  GpuClock* clock_ = nullptr;        ///< the clock of the present run
  int clock_gpu_ = 0;                ///< the GPU of that clock
  cudaStream_t stopping_ = nullptr;  ///< the present run stops the clock behind this stream's last op; null: behind all
  std::vector<Event> trace_marks_;   ///< before and after each op, made by the first run traced by events
  std::optional<ActivityRecording> recording_;  ///< the recording of the present run
  bool by_events_ = false;                      ///< the present run is traced by events, all of its ops or kernels
  std::string why_by_events_;                   ///< why not by activity records

  std::vector<StreamId> used_streams_;      ///< the streams that have ops, in the order of their first ops
  std::vector<cudaStream_t> used_handles_;  ///< the streams of these streams
  std::optional<Gates::Use> gate_;          ///< the gate of the present run, when it is held
  ExecutableGraph graph_;                   ///< null unless the schedule is submitted as a graph
  std::vector<LaunchShape> launches_;       ///< the kernel launches of the graph
};

}  // namespace shiplap
