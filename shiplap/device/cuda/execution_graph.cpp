// Schedules that are submitted as a graph. Their calls are captured once, when the execution is made.
#include <fmt/format.h>

#include <exception>
#include <optional>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/call_watch.hpp"
#include "shiplap/device/cuda/execution.hpp"

namespace shiplap {

// Captures the calls of a run as a graph. All streams branch off from the first one and join it at the end.
Graph CudaExecution::capture(bool& refused) {
  const cudaStream_t origin = used_handles_.front();
  const std::string what = fmt::format("a graph of {} ops", schedule_.ops.size());
  const Event fork = make_order_event(api_, "the start of a graph");
  check(api_, api_.stream_begin_capture(origin, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture", what);
  Graph graph{nullptr, Graph::deleter_type(api_)};
  const auto end = [&] {
    cudaGraph_t captured = nullptr;
    const cudaError_t error = api_.stream_end_capture(origin, &captured);
    graph.reset(captured);
    refused = error >= cudaErrorStreamCaptureUnsupported && error <= cudaErrorStreamCaptureWrongThread;
    return error;
  };
  try {
    check(api_, api_.event_record(fork.get(), origin), "cudaEventRecord", "the start of a graph");
    for (std::size_t i = 1; i < used_handles_.size(); ++i)
      check(api_, api_.stream_wait_event(used_handles_[i], fork.get(), 0), "cudaStreamWaitEvent",
            "the start of a graph");
    make_calls(0);
    for (std::size_t i = 0; i < end_marks_.size(); ++i)
      if (streams_->handles[ending_streams_[i].index()].get() != origin)
        check(api_, api_.stream_wait_event(origin, end_marks_[i].get(), 0), "cudaStreamWaitEvent",
              "the end of a graph");
  } catch (...) {
    const cudaError_t error = end();
    if (error != cudaSuccess) static_cast<void>(api_.get_last_error());
    // After an exception the streams were not joined, so this error does not come from the kernel.
    if (error == cudaErrorStreamCaptureUnjoined) refused = false;
    throw;
  }
  check(api_, end(), "cudaStreamEndCapture", what);
  return graph;
}

void CudaExecution::make_graph() {
  if (clocks_.size() > 1) throw Unsupported("a graph is of one GPU: submit what several GPUs do op by op");
  const cudaStream_t origin = used_handles_.front();
  const std::string what = fmt::format("a graph of {} ops", schedule_.ops.size());
  Graph graph{nullptr, Graph::deleter_type(api_)};
  bool refused = false;
  try {
    graph = capture(refused);
  } catch (const Error& error) {
    if (!refused || dynamic_cast<const Cancelled*>(&error) != nullptr) throw;
    // The error does not name the refused call, so the capture is repeated under CUPTI.
    const std::string call = call_refused_in([&] {
      try {
        capture(refused);
      } catch (const Error&) {
      }
    });
    std::throw_with_nested(Error(call.empty() ? error.what() : fmt::format("{}; {}", call, error.what())));
  }
  note_launches(graph.get());
  cudaGraphExec_t made = nullptr;
  check(api_, api_.graph_instantiate(&made, graph.get(), 0), "cudaGraphInstantiateWithFlags", what);
  graph_ = ExecutableGraph(made, ExecutableGraph::deleter_type(api_));
  check(api_, api_.graph_upload(made, origin), "cudaGraphUpload", what);
  check(api_, api_.stream_synchronize(origin), "cudaStreamSynchronize", what);
}

// The runtime cannot query the kernels of some libraries. Their grid is known and their occupancy is not.
void CudaExecution::note_launches(cudaGraph_t graph) {
  const auto is_known = [&](cudaError_t error, const char* call) {
    if (error == cudaErrorInvalidDeviceFunction || error == cudaErrorInvalidValue ||
        error == cudaErrorInvalidResourceHandle || error == cudaErrorNotSupported) {
      static_cast<void>(api_.get_last_error());
      return false;
    }
    check(api_, error, call, "a kernel of a graph");
    return true;
  };
  std::size_t count = 0;
  check(api_, api_.graph_get_nodes(graph, nullptr, &count), "cudaGraphGetNodes", "a graph");
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) check(api_, api_.graph_get_nodes(graph, nodes.data(), &count), "cudaGraphGetNodes", "a graph");
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    check(api_, api_.graph_node_get_type(node, &type), "cudaGraphNodeGetType", "a graph");
    cudaKernelNodeParams kernel{};
    if (type != cudaGraphNodeTypeKernel) continue;
    if (!is_known(api_.graph_kernel_node_get_params(node, &kernel), "cudaGraphKernelNodeGetParams")) continue;
    const auto volume = [](dim3 d) { return std::uint64_t{d.x} * d.y * d.z; };
    LaunchShape shape{.blocks = volume(kernel.gridDim), .threads = static_cast<unsigned>(volume(kernel.blockDim))};
    int held = 0;
    if (is_known(api_.occupancy_max_active_blocks(&held, kernel.func, static_cast<int>(shape.threads),
                                                  kernel.sharedMemBytes),
                 "cudaOccupancyMaxActiveBlocksPerMultiprocessor"))
      shape.max_blocks_per_sm = static_cast<std::uint64_t>(held);
    launches_.push_back(shape);
  }
}

void CudaExecution::launch_graph() {
  check(api_, api_.graph_launch(graph_.get(), stopping_), "cudaGraphLaunch",
        fmt::format("a graph of {} ops", schedule_.ops.size()));
  check_of_run(api_.event_record(clock_->stop.get(), stopping_), "cudaEventRecord", "the stop mark");
}

std::span<const cudaStream_t> CudaExecution::starting_streams() const {
  return graph_ != nullptr ? std::span(used_handles_).first(1) : std::span(used_handles_);
}

}  // namespace shiplap
