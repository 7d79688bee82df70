// Runs that are enqueued in a stream of the caller. The host makes all calls and waits for none of them.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/callers_gpu.hpp"
#include "shiplap/device/cuda/execution.hpp"

namespace shiplap {
namespace {

constexpr const char* while_enqueuing = "enqueuing a run in a stream of the caller";

}  // namespace

void CudaExecution::require_enqueueable(cudaStream_t stream) const {
  if (in_flight_) throw Error("a run is in flight: wait for it before enqueuing another in a stream");
  if (!blocks_host_.is_none())
    throw Unsupported(fmt::format("{}: the host takes part in it, so the run cannot be enqueued in a stream: run it",
                                  describe(schedule_, blocks_host_)));
  if (graph_ != nullptr || commands_.size() > 1)
    throw Unsupported("graphs and runs that several threads submit cannot be enqueued in a stream: run them");
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(api_, api_.stream_is_capturing(stream, &status), "cudaStreamIsCapturing", while_enqueuing);
  if (status != cudaStreamCaptureStatusNone)
    throw Unsupported("the stream is being captured into a graph: capture the run instead");
}

void CudaExecution::enqueue(void* stream) {
  const CallersGpu callers(api_);
  leave_overdue_run();
  if (schedule_.ops.empty()) return;
  auto* const origin = static_cast<cudaStream_t>(stream);
  if (void* context = nullptr; api_.current_context(&context) != cudaSuccess || context == nullptr)
    select(gpus_.gpus.front());
  require_enqueueable(origin);
  if (lists_) lists_->check();
  // Access between GPUs stays as long as this execution lives, because nobody learns when the run ends.
  if (gpus_.peers != nullptr && !peer_use_) {
    const CallersGpu before(api_);
    peer_use_.emplace(PeerAccess::set(gpus_.peers, schedule_.peer_access));
  }
  options_ = {};
  by_events_ = false;
  stopping_ = nullptr;
  const auto wait_for = [&](cudaStream_t waiting, cudaEvent_t event) {
    check(api_, api_.stream_wait_event(waiting, event, 0), "cudaStreamWaitEvent", while_enqueuing);
  };
  // An event is recorded in streams of the GPU that it was made on. A default stream is that of the current context.
  check(api_, api_.select_gpu_of(origin), "cuStreamGetCtx", while_enqueuing);
  void* context_of_origin = nullptr;
  check(api_, api_.current_context(&context_of_origin), "cuCtxGetCurrent", while_enqueuing);
  const Event begin = make_order_event(api_, while_enqueuing);
  check(api_, api_.event_record(begin.get(), origin), "cudaEventRecord", while_enqueuing);
  enqueued_ = true;
  try {
    for (cudaStream_t used : used_handles_) wait_for(used, begin.get());
    std::optional<int> selected;
    for (const Command& command : commands_.front()) {
      if (selected != command.gpu) select(selected.emplace(command.gpu));
      const char* call = "";
      if (const cudaError_t error = issue(command, call); error != cudaSuccess) fail(command, error, call);
    }
    // What comes later in the streams of the execution comes after the whole run, as in that of the caller.
    for (const Event& end : end_marks_)
      for (cudaStream_t used : used_handles_) wait_for(used, end.get());
    check(api_, api_.set_context(context_of_origin), "cuCtxSetCurrent", while_enqueuing);
    for (const Event& end : end_marks_) wait_for(origin, end.get());
  } catch (...) {  // nothing of the caller waits for what was enqueued
    wait_for_enqueued();
    throw;
  }
}

void CudaExecution::wait_for_enqueued() noexcept {
  if (!std::exchange(enqueued_, false)) return;
  for (cudaStream_t used : used_handles_) static_cast<void>(api_.stream_synchronize(used));
  static_cast<void>(api_.get_last_error());
}

void CudaExecution::rebind(const Bindings& bindings) {
  if (in_flight_) throw Unsupported("a run is in flight: wait for it before its memory changes");
  for (const Op& op : schedule_.ops)
    if ((!std::holds_alternative<Copy>(op.what) && !std::holds_alternative<HostCopy>(op.what)) || op.batched)
      throw Unsupported("only copies that are submitted one by one get other memory: prepare another execution");
  files_ = bindings.files;
  for (std::vector<Command>& commands : commands_)
    for (Command& command : commands)
      if (command.kind == SubmissionStep::Kind::submit)
        resolve_op(schedule_.ops[command.op.index()], bindings, command);
}

}  // namespace shiplap
