// A schedule made ready to run on a GPU: streams for its queues, events for its dependencies, every call resolved.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

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

  /// Makespan: from the earliest start mark to the latest end mark. Without `hold` there is one start mark, in front of
  /// the first op; with it every queue has one, in front of its first op and behind the gate. Each finish step is an
  /// end mark. `submission` covers the calls of the submission alone. A span of a trace goes from the moment the op's
  /// queue had come to it (and its dependencies had ended) to its end, so it contains the time that the op waited for
  /// its engine. Throws Error when a call fails or the gate opened by itself; then nothing of the run is in flight any
  /// more.
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
    const KernelCall* kernel = nullptr;  ///< of a submitted kernel
    CopyCall copy;                       ///< of a submitted copy
    cudaEvent_t held_start = nullptr;    ///< start mark, when the op is the first of its queue
    cudaEvent_t before = nullptr;        ///< marks of a traced op
    cudaEvent_t after = nullptr;
  };

  void resolve(const Bindings&);
  void make_trace_events();
  void close_gate();
  void submit(const RunOptions&);
  cudaError_t issue(const Command&, const RunOptions&, const char*& call) const;
  void launch(const Command&) const;
  [[noreturn]] void fail(const Command&, cudaError_t, const char* call) const;
  void wait_for_end() const;
  void abandon() noexcept;
  Timeline timeline(const RunOptions&) const;
  Seconds between(cudaEvent_t from, cudaEvent_t to) const;

  const Api& api_;
  int device_;
  Schedule schedule_;
  /// The first op that cannot be held because the host waits for it; none when all can.
  OpId blocks_host_;
  std::vector<KernelCall> kernel_calls_;
  std::vector<Command> commands_;
  std::vector<Event> order_events_;
  std::vector<Event> start_marks_;  ///< of the queues that have ops, in the order of their first ops
  std::vector<Event> end_marks_;
  std::vector<QueueId> ending_queues_;  ///< `end_marks_[i]` is the end of this queue
  std::vector<Event> trace_marks_;      ///< before and after each op, made by the first traced run
  std::vector<cudaStream_t> used_streams_;
  std::unique_ptr<Gate> gate_;  ///< made by the first held run
  std::vector<Stream> streams_;
};

}  // namespace shiplap
