// A schedule made ready to run on a GPU: streams for its queues, events for its dependencies, every call resolved.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "shiplap/device/cuda/activity.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/device.hpp"
#include "shiplap/schedule/submission.hpp"

namespace shiplap {

/// Makes exactly the calls of `submission(schedule)`, a queue being a stream. Place::gpu(0) is the device it was made
/// for. Not for use by several threads at once.
class CudaExecution final : public Execution {
 public:
  /// Throws Error for an unsound schedule or bindings that do not fit it, Unsupported for what this device cannot do.
  /// The table must outlive the execution; so must the memory and kernels of the bindings.
  CudaExecution(const Schedule&, const Bindings&, int device, const Api&);

  /// Makespan: from the start mark to the stop mark, the only events that take the time: one that does makes a copy
  /// engine drain, and behind every queue they slow a pipeline down. The start mark is in front of the first
  /// op (of the timed queue's first op), behind the gate with `hold`; where several queues are held, in front of all of
  /// them. The stop mark is behind the last op of the queue that is timed, or that ends alone; where several queues
  /// end, in a further queue that waits for all of them, which adds one hop between queues (about 2 µs). `submission`
  /// covers the calls of the submission alone. Spans by activity records are moved so that the last one ends with the
  /// makespan; spans by events go from the moment the op's queue had come to it (and its dependencies had ended) to its
  /// end. Throws Error when a call fails or the gate opened by itself; then nothing of the run is in flight any more.
  RunResult run(const RunOptions& options) override;

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
    Launch launch;  ///< refers to the vectors above
  };
  /// One step of the submission with everything looked up.
  struct Command {
    Step::Kind kind = Step::Kind::submit;
    OpId op;
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;         ///< of a wait, record or finish
    bool last_of_queue = false;          ///< of a submission
    const KernelCall* kernel = nullptr;  ///< of a submitted kernel
    CopyCall copy;                       ///< of a submitted copy
    cudaEvent_t before = nullptr;        ///< marks of a traced op
    cudaEvent_t after = nullptr;
  };

  void resolve(const Bindings&);
  void start_trace(const RunOptions&);
  void settle_recording();
  void make_trace_events();
  void start(const RunOptions&);
  cudaStream_t first_stream(const RunOptions&) const;
  void submit();
  cudaError_t issue(const Command&, const char*& call);
  void launch(const Command&) const;
  [[noreturn]] void fail(const Command&, cudaError_t, const char* call) const;
  void wait_for_end() const;
  void abandon() noexcept;
  Timeline timeline(const RunOptions&);
  void add_event_spans(Timeline&) const;
  void add_activity_spans(Timeline&, QueueId timed);
  Seconds between(cudaEvent_t from, cudaEvent_t to) const;

  const Api& api_;
  int device_;
  Schedule schedule_;
  /// The first op that cannot be held because the host waits for it; none when all can.
  OpId blocks_host_;
  std::vector<KernelCall> kernel_calls_;
  std::vector<Command> commands_;
  std::vector<Event> order_events_;
  std::vector<Event> end_marks_;
  std::vector<QueueId> ending_queues_;  ///< `end_marks_[i]` is the end of this queue
  Event start_mark_;
  Event stop_mark_;
  cudaStream_t stopping_ = nullptr;  ///< the queue behind whose last op the present run stops the clock; null: all
  Stream all_ended_;                 ///< waits for every queue, where several end
  std::vector<Event> trace_marks_;   ///< before and after each op, made by the first run traced by events
  std::optional<ActivityRecording> recording_;  ///< of the present run
  bool by_events_ = false;                      ///< the present run is traced by events
  std::string why_by_events_;                   ///< why not by activity records

  std::vector<cudaStream_t> used_streams_;  ///< of the queues that have ops, in the order of their first ops
  std::unique_ptr<Gate> gate_;              ///< made by the first held run
  std::vector<Stream> streams_;
};

}  // namespace shiplap
