// A schedule made ready to run on a GPU: streams for its queues, events for its dependencies, every call resolved.
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

#include "shiplap/device/cuda/activity.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/device/cuda/gpu_set.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/cuda/ranges.hpp"
#include "shiplap/device/device.hpp"
#include "shiplap/device/host_agents.hpp"
#include "shiplap/schedule/submission.hpp"

namespace shiplap {

/// How the execution obtains memory for an allocation of its schedule.
using Allocate = std::function<Memory(Place, MemoryKind, Bytes)>;

/// The streams of one execution, or of several that are submitted one behind another.
struct CudaQueues {
  std::vector<Queue> queues;        ///< what they are, by QueueId
  std::vector<Stream> streams;      ///< by QueueId
  std::map<int, Stream> all_ended;  ///< by the runtime's number of a GPU: waits for every queue, where several end
  std::chrono::steady_clock::time_point made = std::chrono::steady_clock::now();
};

/// Makes exactly the calls of `submission(schedule)`, a queue being a stream and an agent a thread. Place::gpu(i) is
/// the i-th of the GPUs it was made for. Not for use by several threads at once, nor are several that share queues.
class CudaExecution final : public Execution {
 public:
  /// Throws Error for an unsound schedule or bindings that do not fit it, Unsupported for what this device cannot do.
  /// The tables must outlive the execution; so must the memory and kernels of the bindings, and what `allocate` needs.
  /// Queues that `queues` does not have are added to it.
  CudaExecution(const Schedule&, const Bindings&, GpuSet, const Api&, const RangeApi&, Allocate allocate = {},
                std::shared_ptr<CudaQueues> queues = std::make_shared<CudaQueues>());
  /// Waits for what is in flight.
  ~CudaExecution() override;

  /// What is submitted as a graph is captured once, when the execution is made: `submission` covers its launch alone.
  /// Makespan: from the start mark to the stop mark, the only events that take the time: one that does makes a copy
  /// engine drain, and behind every queue they slow a pipeline down. The start mark is in front of the first
  /// op (of the timed queue's first op), behind the gate with `hold`; where several queues are held, in front of all of
  /// them. The stop mark is behind the last op of the queue that is timed, or that ends alone; where several queues
  /// end, in a further queue that waits for all of them, which adds one hop between queues (about 2 µs). `submission`
  /// covers the calls of the submission alone. Where agents perform ops themselves, the device's clock does not see the
  /// end: then, unless a queue is timed, the makespan is the host's, from the first call to the end of all work. Spans
  /// by activity records are moved so that the last one ends with the makespan; spans by events go from the moment the
  /// op's queue had come to it (and its dependencies had ended) to its end. Throws Error when a call fails or the gate
  /// opened by itself; what is left behind then, Execution::run says.
  void submit(const RunOptions& options) override;
  RunResult wait() override;
  std::vector<LaunchShape> launches() const override { return launches_; }
  const Schedule& schedule() const { return schedule_; }
  /// Whether it was made for these GPUs by the same device.
  bool is_of(const GpuSet& gpus) const { return gpus_.gates == gpus.gates; }
  const std::shared_ptr<CudaQueues>& queues() const { return queues_; }

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
  /// What an agent performs itself.
  struct HostAction {
    bool copies = false;
    HostCall::Kind call = HostCall::Kind::touch;
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    Bytes length;
    BufferId buffer;
  };
  /// The copies of one batch.
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
    void* range = nullptr;          ///< its name for a profiler; null: nobody listens
    std::size_t awaited_agent = 0;  ///< of an await: it must have made `awaited_steps` of its steps
    std::uint32_t awaited_steps = 0;
    std::optional<HostAction> host{};
    std::optional<PrefetchCall> prefetch{};
    std::optional<BatchCall> batch{};
    cudaStream_t stream = nullptr;
    int gpu = 0;                         ///< of the stream
    cudaEvent_t event = nullptr;         ///< of a wait, record or finish
    bool last_of_queue = false;          ///< of a submission
    bool begins_chunk = false;           ///< of another chunk than what the agent did before
    const KernelCall* kernel = nullptr;  ///< of a submitted kernel
    CopyCall copy;                       ///< of a submitted copy
    cudaEvent_t before = nullptr;        ///< marks of a traced op
    cudaEvent_t after = nullptr;
  };

  void select(int gpu) const;
  int gpu_of(QueueId) const;
  void make_order_events(const Submission&);
  void resolve(const Bindings&);
  Command resolve(const Step&, const Bindings&);
  void resolve_op(const Op&, const Bindings&, Command&);
  void resolve_batch(const Step&, const Bindings&, Command&);
  Graph capture(bool& refused);
  void name_ranges();
  void make_graph();
  void note_launches(cudaGraph_t);
  void require_runnable(const RunOptions&) const;
  void launch_graph();
  /// The streams that a run holds and starts: of a graph the one that it is launched in.
  std::span<const cudaStream_t> starting_streams() const;
  void make_calls(std::size_t agent);
  void await(const Command&) const;
  [[noreturn]] void cancel(const Command&) const;
  void perform(const Command&);
  void call(const Command&, const HostAction&);
  void give_back() noexcept;
  bool performs_itself() const { return !host_marks_.empty(); }
  void start_trace();
  void settle_recording();
  void make_trace_events();
  /// Whether the present run takes marks around the op.
  bool is_marked(const Op&) const;
  void choose_clock();
  void start();
  QueueId first_queue() const;
  void join_queues();
  cudaError_t issue(const Command&, const char*& call);
  void launch(const Command&) const;
  void allocate(const Command&, const HostAction&);
  /// What `action` throws says which op it was for.
  void named(OpId, const auto& action) const;
  std::string kernels() const;
  void check_of_run(cudaError_t, const char* call, std::string_view what) const;
  [[noreturn]] void fail(const Command&, cudaError_t, const char* call) const;
  void wait_for_end() const;
  void abandon() noexcept;
  Timeline timeline();
  void add_event_spans(Timeline&) const;
  void add_activity_spans(Timeline&);
  Seconds between(cudaEvent_t from, cudaEvent_t to, OpId = {}) const;

  const Api& api_;
  Ranges ranges_;
  void* run_range_ = nullptr;         ///< its name for a profiler
  std::optional<OpenRange> running_;  ///< of the present run
  GpuSet gpus_;
  Schedule schedule_;
  std::shared_ptr<CudaQueues> queues_;
  /// The first op that cannot be held because the host waits for it; none when all can.
  OpId blocks_host_;
  Allocate allocate_;
  std::vector<KernelCall> kernel_calls_;
  std::vector<std::vector<Command>> commands_;          ///< by agent
  std::unique_ptr<std::atomic<std::uint32_t>[]> made_;  ///< by agent: how many of them it has made in this run
  std::unique_ptr<HostAgents> agents_;                  ///< where there are several
  std::vector<int> selected_;                           ///< by agent: the GPU that its thread has selected
  struct HostMark {
    std::chrono::steady_clock::time_point start;
    std::chrono::steady_clock::time_point end;
  };
  RunOptions options_;                               ///< of the present run
  bool in_flight_ = false;                           ///< submitted and not waited for
  std::chrono::steady_clock::time_point began_;      ///< the first call of the present run
  std::chrono::steady_clock::time_point submitted_;  ///< the return of its last one
  std::vector<HostMark> host_marks_;  ///< by op, of those that agents perform; empty where there are none
  std::vector<Memory> allocated_;     ///< by buffer, by ops of the schedule
  std::vector<Stream> created_;       ///< by ops of the schedule
  std::mutex pinned_guard_;           ///< of what several agents pin and create
  std::vector<std::byte*> pinned_;    ///< by ops of the schedule, and not unpinned yet
  std::vector<Event> order_events_;
  std::vector<Event> end_marks_;
  std::vector<QueueId> ending_queues_;  ///< `end_marks_[i]` is the end of this queue
  /// Of one GPU: the clock of a run is that of the GPU whose queue it starts with, or of the timed queue's.
  struct Clockwork {
    Event start;
    Event stop;
    cudaStream_t all_ended = nullptr;  ///< of the queues, where several end
  };
  std::map<int, Clockwork> clocks_;  ///< by the runtime's number of the GPU
  Clockwork* clock_ = nullptr;       ///< of the present run
  int clock_gpu_ = 0;                ///< whose clock that is
  cudaStream_t stopping_ = nullptr;  ///< the queue behind whose last op the present run stops the clock; null: all
  std::vector<Event> trace_marks_;   ///< before and after each op, made by the first run traced by events
  std::optional<ActivityRecording> recording_;  ///< of the present run
  bool by_events_ = false;                      ///< the present run is traced by events, all of its ops or kernels
  std::string why_by_events_;                   ///< why not by activity records

  std::vector<cudaStream_t> used_streams_;  ///< of the queues that have ops, in the order of their first ops
  std::vector<QueueId> used_queues_;        ///< these queues
  std::optional<Gates::Use> gate_;          ///< of the present run, when it is held
  ExecutableGraph graph_;                   ///< of a schedule that is submitted as one
  std::vector<LaunchShape> launches_;       ///< of the graph
};

}  // namespace shiplap
