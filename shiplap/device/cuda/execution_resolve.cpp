// Preparation of an execution: it creates streams and events and collects the arguments of every call.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/callers_gpu.hpp"
#include "shiplap/device/cuda/execution.hpp"
#include "shiplap/device/cuda/gpu_facts.hpp"
#include "shiplap/device/cuda/host_pages.hpp"
#include "shiplap/device/cuda/numa.hpp"
#include "shiplap/device/cuda/requirements.hpp"
#include "shiplap/schedule/validate.hpp"

namespace shiplap {
namespace {

cudaMemcpyKind memcpy_kind(CopyDirection direction) {
  switch (direction) {
    case CopyDirection::host_to_device:
      return cudaMemcpyHostToDevice;
    case CopyDirection::device_to_host:
      return cudaMemcpyDeviceToHost;
    case CopyDirection::device_to_device:
      return cudaMemcpyDeviceToDevice;
    case CopyDirection::host_to_host:
      return cudaMemcpyHostToHost;
  }
  throw Error("unknown direction of a copy");
}

}  // namespace

CudaExecution::CudaExecution(const Schedule& schedule, const Bindings& bindings, GpuSet gpus, const Api& api,
                             const RangeApi& ranges, Allocate allocate, std::shared_ptr<CudaStreams> streams)
    : api_(api),
      ranges_(ranges),
      gpus_(std::move(gpus)),
      schedule_(schedule),
      streams_(std::move(streams)),
      allocate_(std::move(allocate)) {
  const CallersGpu callers(api_);
  validate(schedule_);
  require_supported(schedule_, gpus_.gpus.size());
  select(gpus_.gpus.front());
  require_fitting(schedule_, bindings, gpus_, api_);
  if (!schedule_.lists.empty() || !bindings.lists.empty()) lists_.emplace(schedule_, bindings);
  make_pages_of_results(bindings);
  files_ = bindings.files;
  resolve(bindings);
  name_ranges();
}

// A copy into memory without pages would wait for each of them.
void CudaExecution::make_pages_of_results(const Bindings& bindings) const {
  std::set<BufferId> results;
  for (const Op& op : schedule_.ops) {
    if (const auto* copy = std::get_if<Copy>(&op.what)) results.insert(copy->to.buffer);
    if (const auto* copy = std::get_if<HostCopy>(&op.what)) results.insert(copy->to.buffer);
  }
  for (const BufferId id : results)
    if (const Buffer& buffer = schedule_.buffers[id.index()];
        buffer.memory == MemoryKind::pageable && bindings.buffers[id.index()] != nullptr)
      make_missing_pages({bindings.buffers[id.index()], buffer.size.count});
}

// The host does not submit the ops of a graph one by one, so for a graph only the run has an NVTX name. This is called
// last, so that capturing a graph makes no ranges.
void CudaExecution::name_ranges() {
  if (!ranges_.listened_to()) return;
  const auto ops = schedule_.ops.size();
  run_range_ = ranges_.name(fmt::format("run of {}{} ops", graph_ != nullptr ? "a graph of " : "", ops));
  if (graph_ != nullptr) return;
  for (auto& commands : commands_) {
    for (Command& command : commands) {
      if (command.kind != SubmissionStep::Kind::submit) continue;
      const std::string first = describe(schedule_, command.op);
      command.range = ranges_.name(
          command.batch ? fmt::format("{} and {} more in its batch", first, command.batch->to.size() - 1) : first);
    }
  }
}

void CudaExecution::select(int gpu) const {
  if (const cudaError_t error = api_.set_device(gpu); error != cudaSuccess)
    fail_call(api_, error, "cudaSetDevice", fmt::format("cuda:{}", gpu));
}

int CudaExecution::gpu_of(StreamId stream) const { return gpus_.at(schedule_.streams[stream.index()].place); }

// An event is created on the GPU in whose stream it is recorded.
void CudaExecution::make_order_events(const Submission& calls) {
  order_events_.resize(calls.events);
  for (const auto& steps : calls.agents) {
    for (const SubmissionStep& step : steps) {
      if (step.kind != SubmissionStep::Kind::record) continue;
      select(gpu_of(step.stream));
      order_events_[step.event.index()] = make_order_event(api_, "the order of ops");
    }
  }
}

void CudaExecution::give_advice(const Bindings& bindings) {
  for (std::size_t i = 0; i < schedule_.buffers.size(); ++i) {
    const Buffer& buffer = schedule_.buffers[i];
    if (buffer.advice == MemoryAdvice::none || buffer.size.count == 0) continue;
    const int gpu = gpus_.gpus.front();
    if (gpu_attribute(api_, cudaDevAttrConcurrentManagedAccess, gpu) == 0)
      throw Unsupported(fmt::format(
          "cuda:{} moves all managed memory before each kernel, so advice on {} has no effect", gpu, buffer.name));
    advice_.emplace_back(api_, bindings.buffers[i], buffer.size, buffer.advice, gpu, buffer.name);
  }
}

// Creates the CUDA streams that no earlier execution has created.
void CudaExecution::make_streams() {
  for (auto i = static_cast<std::uint32_t>(streams_->handles.size()); i < schedule_.streams.size(); ++i) {
    select(gpu_of(StreamId{i}));
    streams_->streams.push_back(schedule_.streams[i]);
    const std::string name = "stream " + schedule_.streams[i].name;
    streams_->handles.push_back(schedule_.streams[i].urgent ? make_urgent_stream(api_, name) : make_stream(api_, name));
  }
}

void CudaExecution::resolve(const Bindings& bindings) {
  const Submission calls = submission(schedule_);
  give_advice(bindings);
  make_streams();
  make_order_events(calls);
  blocks_host_ = first_blocking(schedule_);
  make_commands(calls, bindings);
  note_used_streams();
  make_clocks();
  make_agents();
  if (schedule_.as_graph && !schedule_.ops.empty()) make_graph();
}

bool CudaExecution::takes_over(const Op& op) const {
  return std::ranges::any_of(op.after, [&](OpId earlier) {
    const Op& before = schedule_.ops[earlier.index()];
    return before.agent != op.agent && before.chunk == op.chunk;
  });
}

void CudaExecution::make_commands(const Submission& calls, const Bindings& bindings) {
  kernel_calls_.reserve(schedule_.ops.size());  // commands point into this vector

  // For each op, the number of its agent's steps after which the op has been submitted or performed.
  std::vector<std::uint32_t> steps_of(schedule_.ops.size());
  for (const auto& steps : calls.agents)
    for (std::uint32_t i = 0; i < steps.size(); ++i) steps_of[steps[i].op.index()] = i + 1;

  // The op with the highest number is submitted last: an agent waits for the submission of an earlier op of its stream
  // by another agent.
  std::vector<Command*> last_submit(schedule_.streams.size(), nullptr);
  for (const auto& steps : calls.agents) {
    auto& commands = commands_.emplace_back();
    commands.reserve(steps.size());
    std::optional<std::uint32_t> chunk;
    for (const SubmissionStep& step : steps) {
      Command& command = commands.emplace_back(resolve(step, bindings));
      const Op& op = schedule_.ops[step.op.index()];
      command.may_stop = chunk != op.chunk && !takes_over(op);
      chunk = op.chunk;
      if (step.kind == SubmissionStep::Kind::await) {
        command.awaited_agent = schedule_.ops[step.awaited.index()].agent.index();
        command.awaits_host = schedule_.ops[step.awaited.index()].stream.is_none();
        command.awaited_steps = steps_of[step.awaited.index()];
      }
      if (step.kind != SubmissionStep::Kind::submit || step.stream.is_none()) continue;
      Command*& last = last_submit[step.stream.index()];
      if (last == nullptr || last->op < command.op) last = &command;
    }
  }
  for (Command* last : last_submit)
    if (last != nullptr) last->last_of_stream = true;
}

void CudaExecution::note_used_streams() {
  for (const Op& op : schedule_.ops) {
    if (op.stream.is_none() || std::ranges::find(used_streams_, op.stream) != used_streams_.end()) continue;
    used_streams_.push_back(op.stream);
    used_handles_.push_back(streams_->handles[op.stream.index()].get());
  }
}

void CudaExecution::make_clocks() {
  for (const StreamId stream : used_streams_) {
    const int gpu = gpu_of(stream);
    if (clocks_.contains(gpu)) continue;
    select(gpu);
    clocks_[gpu] = {.start = make_timing_event(api_, "the start mark"),
                    .stop = make_timing_event(api_, "the stop mark"),
                    .all_ended = nullptr};
    const bool others = std::ranges::any_of(ending_streams_, [&](StreamId q) { return gpu_of(q) != gpu; });
    if (end_marks_.size() < 2 && !others) continue;
    StreamHandle& all_ended = streams_->all_ended[gpu];
    if (all_ended == nullptr) all_ended = make_stream(api_, "joining the streams");
    clocks_[gpu].all_ended = all_ended.get();
  }
}

void CudaExecution::make_agents() {
  made_ = std::make_unique<std::atomic<std::uint32_t>[]>(commands_.size());
  selected_.assign(commands_.size(), gpus_.gpus.front());
  if (commands_.size() < 2) return;
  agents_ = std::make_unique<HostAgents>(commands_.size(), [this](std::size_t agent) {
    select(gpus_.gpus.front());
    if (const auto node = node_of(agent)) keep_to_cores_of(*node);
  });
}

std::optional<std::uint16_t> CudaExecution::node_of(std::size_t agent) const {
  const auto stated = schedule_.agents[agent].numa_node;
  if (!stated || gpus_.node(*stated) == any_numa_node) return std::nullopt;
  return gpus_.node(*stated);
}

CudaExecution::Command CudaExecution::resolve(const SubmissionStep& step, const Bindings& bindings) {
  Command command;
  command.kind = step.kind;
  command.op = step.op;
  if (!step.stream.is_none()) {
    command.stream = streams_->handles[step.stream.index()].get();
    command.gpu = gpu_of(step.stream);
  }
  switch (step.kind) {
    case SubmissionStep::Kind::await:
      break;
    case SubmissionStep::Kind::synchronize:
    case SubmissionStep::Kind::wait:
    case SubmissionStep::Kind::record:
      command.event = order_events_[step.event.index()].get();
      break;
    case SubmissionStep::Kind::finish:
      select(command.gpu);
      end_marks_.push_back(make_order_event(api_, "the end of a stream"));
      ending_streams_.push_back(step.stream);
      command.event = end_marks_.back().get();
      break;
    case SubmissionStep::Kind::submit:
      resolve_op(schedule_.ops[step.op.index()], bindings, command);
      if (step.batch > 1) resolve_batch(step, bindings, command);
      break;
  }
  return command;
}

void CudaExecution::resolve_op(const Op& op, const Bindings& bindings, Command& command) {
  const auto address = [&](const Region& r) { return bindings.buffers[r.buffer.index()] + r.offset.count; };
  if (op.stream.is_none()) {
    host_marks_.resize(schedule_.ops.size());
    allocated_.resize(schedule_.buffers.size());
  }
  if (const auto* copy = std::get_if<Copy>(&op.what)) {
    command.copy = {.to = address(copy->to),
                    .from = address(copy->from),
                    .bytes = copy->from.length.count,
                    .kind = memcpy_kind(direction(schedule_, *copy))};
  } else if (const auto* kernel = std::get_if<Kernel>(&op.what)) {
    KernelCall& call = kernel_calls_.emplace_back();
    const KernelBinding& binding = bindings.kernels[kernel->kernel.index()];
    call.function = op.stream.is_none() ? binding.host : binding.cuda;
    if (op.stream.is_none()) command.host = HostAction{.length = {}, .buffer = {}};
    for (const Access& operand : kernel->operands) {
      call.operands.push_back(address(operand.region));
      call.lengths.push_back(operand.region.length);
      call.origins.push_back(operand.origin);
    }
    call.launch = {.first_item = kernel->first_item,
                   .items = kernel->items,
                   .operands = call.operands,
                   .lengths = call.lengths,
                   .origins = call.origins,
                   .blocks = kernel->blocks,
                   .stream = command.stream};
    command.kernel = &call;
  } else if (const auto* prefetch = std::get_if<Prefetch>(&op.what)) {
    command.prefetch = {.data = address(prefetch->region),
                        .bytes = prefetch->region.length.count,
                        .destination = prefetch->to.is_gpu() ? gpus_.at(prefetch->to) : cudaCpuDeviceId};
  } else if (const auto* blocks = std::get_if<BlockCopy>(&op.what)) {
    command.blocks = BlockCall{.move = block_move(schedule_, *blocks, bindings), .mover = blocks->mover};
    if (op.stream.is_none())
      command.host = HostAction{.length = {}, .buffer = {}};
    else if (blocks->mover.kind == Mover::Kind::batch)
      command.blocks->batch = std::make_unique<BatchArrays>(blocks->count);
  } else if (const auto* host = std::get_if<HostCopy>(&op.what)) {
    command.host = HostAction{.copies = true,
                              .past_caches = schedule_.buffers[host->to.buffer.index()].memory == MemoryKind::pageable,
                              .to = address(host->to),
                              .from = address(host->from),
                              .length = host->from.length,
                              .buffer = {}};
    if (bindings.file_of(host->from.buffer.index()) != nullptr) {
      command.host->file = &files_[host->from.buffer.index()];
      command.host->in_file = host->from.offset;
    }
  } else if (const auto& call = std::get<HostCall>(op.what); !has_region(call.kind)) {
    command.host = HostAction{.call = call.kind, .length = {}, .buffer = {}, .work = call.work};
  } else {
    const bool bound = bindings.buffers[call.region.buffer.index()] != nullptr;
    command.host = HostAction{.call = call.kind,
                              .to = bound ? address(call.region) : nullptr,
                              .length = call.region.length,
                              .buffer = call.region.buffer};
  }
}

void CudaExecution::resolve_batch(const SubmissionStep& step, const Bindings& bindings, Command& command) {
  command.batch.emplace();
  for (std::uint32_t op = step.op.value; op < step.op.value + step.batch; ++op) {
    Command one;
    resolve_op(schedule_.ops[op], bindings, one);
    command.batch->to.push_back(one.copy.to);
    command.batch->from.push_back(one.copy.from);
    command.batch->bytes.push_back(one.copy.bytes);
  }
}

}  // namespace shiplap
