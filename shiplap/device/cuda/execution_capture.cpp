// The calls of a run as a part of a graph that the caller captures. What agents do themselves becomes host nodes.
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/callers_gpu.hpp"
#include "shiplap/device/cuda/execution.hpp"
#include "shiplap/device/host_work.hpp"
#include "shiplap/device/move_blocks.hpp"

namespace shiplap {
namespace {

using HostNode = std::function<void()>;

void CUDART_CB run_node(void* node) { (*static_cast<HostNode*>(node))(); }
void CUDART_CB delete_node(void* node) { delete static_cast<HostNode*>(node); }

constexpr const char* while_capturing = "capturing a run in a stream of the caller";

}  // namespace

/// The order of an agent's own work among captured calls. Its host nodes are in a stream of its own, and so is what it
/// waits for.
class CudaExecution::CapturedAgent {
 public:
  CapturedAgent(const Api& api, cudaEvent_t fork)
      : api_(api),
        fork_(fork),
        stream_(make_stream(api, while_capturing)),
        point_(make_order_event(api, while_capturing)) {}

  /// What the agent does from now on comes after the event.
  void wait_for(cudaEvent_t event) {
    begin();
    check(api_, api_.stream_wait_event(stream_.get(), event, 0), "cudaStreamWaitEvent", while_capturing);
    moved_ = true;
  }
  void perform(cudaStream_t captured, HostNode work) {
    begin();
    auto node = std::make_unique<HostNode>(std::move(work));
    check(api_, api_.keep_with_graph(captured, node.get(), delete_node), "cudaGraphRetainUserObject", while_capturing);
    check(api_, api_.launch_host_func(stream_.get(), run_node, node.release()), "cudaLaunchHostFunc", while_capturing);
    moved_ = true;
  }
  /// The event after what the agent has done and waited for so far; null when it has neither.
  cudaEvent_t point() {
    if (!began_) return nullptr;
    if (std::exchange(moved_, false))
      check(api_, api_.event_record(point_.get(), stream_.get()), "cudaEventRecord", while_capturing);
    return point_.get();
  }

 private:
  void begin() {
    if (!std::exchange(began_, true))
      check(api_, api_.stream_wait_event(stream_.get(), fork_, 0), "cudaStreamWaitEvent", while_capturing);
  }

  const Api& api_;
  cudaEvent_t fork_;
  StreamHandle stream_;
  Event point_;
  bool began_ = false;
  bool moved_ = false;
};

void CudaExecution::capture(void* stream) {
  const CallersGpu callers(api_);
  leave_overdue_run();
  if (in_flight_) throw Error("a run is in flight: wait for it before capturing another in a stream");
  if (clocks_.size() > 1) throw Unsupported("a graph is of one GPU: run what several GPUs do without capturing it");
  if (schedule_.ops.empty()) return;
  if (used_handles_.empty()) throw Unsupported("a schedule without streams cannot be captured: run it on the host");
  // What cannot be captured is refused before the first call, so that the caller's capture goes on.
  for (const std::vector<Command>& of_agent : commands_)
    for (const Command& command : of_agent)
      if (command.host) static_cast<void>(node_of(command));
  if (lists_) lists_->check();
  select(gpus_.gpus.front());
  options_ = {};
  by_events_ = false;
  stopping_ = nullptr;
  auto* const origin = static_cast<cudaStream_t>(stream);
  const Event fork = make_order_event(api_, while_capturing);
  check(api_, api_.event_record(fork.get(), origin), "cudaEventRecord", while_capturing);
  for (cudaStream_t used : used_handles_)
    check(api_, api_.stream_wait_event(used, fork.get(), 0), "cudaStreamWaitEvent", while_capturing);

  std::vector<CapturedAgent> agents;
  agents.reserve(commands_.size());
  for (std::size_t a = 0; a < commands_.size(); ++a) agents.emplace_back(api_, fork.get());
  std::vector<std::size_t> next(commands_.size());
  // In the order of the ops, everything that a call waits for has been captured before it.
  for (std::uint32_t op = 0; op < schedule_.ops.size(); ++op) {
    const std::size_t agent = schedule_.ops[op].agent.index();
    for (std::size_t& at = next[agent]; at < commands_[agent].size() && commands_[agent][at].op == OpId{op}; ++at)
      capture(commands_[agent][at], origin, agents);
  }
  const auto join = [&](cudaEvent_t event) {
    check(api_, api_.stream_wait_event(origin, event, 0), "cudaStreamWaitEvent", while_capturing);
  };
  for (const Event& end : end_marks_) join(end.get());
  for (CapturedAgent& agent : agents)
    if (cudaEvent_t last = agent.point(); last != nullptr) join(last);
}

void CudaExecution::capture(const Command& command, cudaStream_t origin, std::vector<CapturedAgent>& agents) {
  CapturedAgent& agent = agents[schedule_.ops[command.op.index()].agent.index()];
  if (command.kind == SubmissionStep::Kind::await) {
    // Calls are captured in order. Only work that the other agent does itself is to be waited for.
    if (cudaEvent_t point = agents[command.awaited_agent].point(); command.awaits_host && point != nullptr)
      agent.wait_for(point);
    return;
  }
  if (command.kind == SubmissionStep::Kind::synchronize) return agent.wait_for(command.event);
  if (command.host) return agent.perform(origin, node_of(command));
  if (cudaEvent_t point = agent.point(); command.kind == SubmissionStep::Kind::submit && point != nullptr)
    check(api_, api_.stream_wait_event(command.stream, point, 0), "cudaStreamWaitEvent", while_capturing);
  const char* call = "";
  if (const cudaError_t error = issue(command, call); error != cudaSuccess) fail(command, error, call);
}

std::function<void()> CudaExecution::node_of(const Command& command) const {
  const HostAction& action = *command.host;
  if (command.kernel != nullptr)
    return [call = *command.kernel] {
      Launch launch = call.launch;
      launch.operands = call.operands;
      launch.lengths = call.lengths;
      launch.origins = call.origins;
      call.function(launch);
    };
  if (command.blocks) return [move = command.blocks->move] { move_on_host(move); };
  if (action.copies) return [action] { action.copy(); };
  const std::span<std::byte> memory(action.to, action.length.count);
  switch (action.call) {
    case HostCall::Kind::touch:
      return [memory] { touch_pages(memory); };
    case HostCall::Kind::flush:
      return [memory] { flush_caches(memory); };
    case HostCall::Kind::wait:
      return [work = action.work] { be_busy(work); };
    default:
      throw Unsupported(fmt::format("{}: CUDA captures no call of this kind: run the schedule without capturing it",
                                    describe(schedule_, command.op)));
  }
}

}  // namespace shiplap
