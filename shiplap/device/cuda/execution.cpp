#include "shiplap/device/cuda/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/requirements.hpp"
#include "shiplap/device/host_work.hpp"
#include "shiplap/schedule/validate.hpp"

namespace shiplap {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int none_selected = -1;

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

Engine engine(const Schedule& schedule, const Op& op) {
  if (op.queue.is_none()) return Engine::host;
  if (const auto* prefetch = std::get_if<Prefetch>(&op.what))
    return prefetch->to.is_gpu() ? Engine::copy_h2d : Engine::copy_d2h;
  const auto* copy = std::get_if<Copy>(&op.what);
  if (copy == nullptr) return Engine::compute;
  switch (direction(schedule, *copy)) {
    case CopyDirection::host_to_device:
      return Engine::copy_h2d;
    case CopyDirection::device_to_host:
      return Engine::copy_d2h;
    default:
      return Engine::copy_d2d;
  }
}

}  // namespace

CudaExecution::CudaExecution(const Schedule& schedule, const Bindings& bindings, GpuSet gpus, const Api& api,
                             Allocate allocate)
    : api_(api), gpus_(std::move(gpus)), schedule_(schedule), allocate_(std::move(allocate)) {
  validate(schedule_);
  require_supported(schedule_, gpus_.gpus.size());
  select(gpus_.gpus.front());
  require_fitting(schedule_, bindings, gpus_, api_);
  resolve(bindings);
}

void CudaExecution::select(int gpu) const { check(api_, api_.set_device(gpu), "cudaSetDevice"); }

int CudaExecution::gpu_of(QueueId queue) const { return gpus_.at(schedule_.queues[queue.index()].place); }

// An event belongs to the GPU in whose queue it is recorded.
void CudaExecution::make_order_events(const Submission& calls) {
  order_events_.resize(calls.events);
  for (const auto& steps : calls.agents) {
    for (const Step& step : steps) {
      if (step.kind != Step::Kind::record) continue;
      select(gpu_of(step.queue));
      order_events_[step.event.index()] = make_order_event(api_);
    }
  }
}

void CudaExecution::resolve(const Bindings& bindings) {
  const Submission calls = submission(schedule_);
  const std::size_t queues = schedule_.queues.size();
  for (std::uint32_t i = 0; i < queues; ++i) {
    select(gpu_of(QueueId{i}));
    streams_.push_back(make_stream(api_));
  }
  make_order_events(calls);
  kernel_calls_.reserve(schedule_.ops.size());  // commands point into it
  blocks_host_ = first_blocking(schedule_);

  // The number of its agent's steps after which all that belongs to an op has been done.
  std::vector<std::uint32_t> steps_of(schedule_.ops.size());
  for (const auto& steps : calls.agents)
    for (std::uint32_t i = 0; i < steps.size(); ++i) steps_of[steps[i].op.index()] = i + 1;

  std::vector<Command*> last_submit(queues, nullptr);
  for (const auto& steps : calls.agents) {
    auto& commands = commands_.emplace_back();
    commands.reserve(steps.size());
    for (const Step& step : steps) {
      Command& command = commands.emplace_back(resolve(step, bindings));
      if (step.kind == Step::Kind::await) {
        command.awaited_agent = schedule_.ops[step.awaited.index()].agent.index();
        command.awaited_steps = steps_of[step.awaited.index()];
      }
      if (step.kind != Step::Kind::submit || step.queue.is_none()) continue;
      last_submit[step.queue.index()] = &command;
    }
  }
  for (Command* last : last_submit)
    if (last != nullptr) last->last_of_queue = true;
  for (const Op& op : schedule_.ops) {
    if (op.queue.is_none() || std::ranges::find(used_queues_, op.queue) != used_queues_.end()) continue;
    used_queues_.push_back(op.queue);
    used_streams_.push_back(streams_[op.queue.index()].get());
  }
  for (const QueueId queue : used_queues_) {
    const int gpu = gpu_of(queue);
    if (clocks_.contains(gpu)) continue;
    select(gpu);
    clocks_[gpu] = {.start = make_timing_event(api_), .stop = make_timing_event(api_), .all_ended = {}};
    const bool others = std::ranges::any_of(ending_queues_, [&](QueueId q) { return gpu_of(q) != gpu; });
    if (end_marks_.size() > 1 || others) clocks_[gpu].all_ended = make_stream(api_);
  }
  made_ = std::make_unique<std::atomic<std::uint32_t>[]>(commands_.size());
  selected_.assign(commands_.size(), gpus_.gpus.front());
  if (commands_.size() > 1)
    agents_ = std::make_unique<HostAgents>(commands_.size(), [this](std::size_t) { select(gpus_.gpus.front()); });
}

CudaExecution::Command CudaExecution::resolve(const Step& step, const Bindings& bindings) {
  Command command;
  command.kind = step.kind;
  command.op = step.op;
  if (!step.queue.is_none()) {
    command.stream = streams_[step.queue.index()].get();
    command.gpu = gpu_of(step.queue);
  }
  switch (step.kind) {
    case Step::Kind::await:
      break;
    case Step::Kind::synchronize:
    case Step::Kind::wait:
    case Step::Kind::record:
      command.event = order_events_[step.event.index()].get();
      break;
    case Step::Kind::finish:
      select(command.gpu);
      end_marks_.push_back(make_order_event(api_));
      ending_queues_.push_back(step.queue);
      command.event = end_marks_.back().get();
      break;
    case Step::Kind::submit:
      resolve_op(schedule_.ops[step.op.index()], bindings, command);
      break;
  }
  return command;
}

void CudaExecution::resolve_op(const Op& op, const Bindings& bindings, Command& command) {
  const auto address = [&](const Region& r) { return bindings.buffers[r.buffer.index()] + r.offset.count; };
  if (op.queue.is_none()) {
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
    call.function = bindings.kernels[kernel->kernel.index()].cuda;
    for (const Access& operand : kernel->operands) {
      call.operands.push_back(address(operand.region));
      call.lengths.push_back(operand.region.length);
    }
    call.launch = {.first_item = kernel->first_item,
                   .items = kernel->items,
                   .operands = call.operands,
                   .lengths = call.lengths,
                   .blocks = kernel->blocks,
                   .stream = command.stream};
    command.kernel = &call;
  } else if (const auto* prefetch = std::get_if<Prefetch>(&op.what)) {
    command.prefetch = {.data = address(prefetch->region),
                        .bytes = prefetch->region.length.count,
                        .destination = prefetch->to.is_gpu() ? gpus_.at(prefetch->to) : cudaCpuDeviceId};
  } else if (const auto* host = std::get_if<HostCopy>(&op.what)) {
    command.host = HostAction{.copies = true,
                              .to = address(host->to),
                              .from = address(host->from),
                              .length = host->from.length,
                              .buffer = {}};
  } else {
    const auto& call = std::get<HostCall>(op.what);
    const bool bound = bindings.buffers[call.region.buffer.index()] != nullptr;
    command.host = HostAction{.call = call.kind,
                              .to = bound ? address(call.region) : nullptr,
                              .length = call.region.length,
                              .buffer = call.region.buffer};
  }
}

void CudaExecution::make_trace_events() {
  if (!trace_marks_.empty()) return;
  std::vector<Event> marks;
  for (const Op& op : schedule_.ops) {
    if (!op.queue.is_none()) select(gpu_of(op.queue));
    for (int i = 0; i < 2; ++i) marks.push_back(make_timing_event(api_));
  }
  trace_marks_ = std::move(marks);
  for (auto& commands : commands_) {
    for (Command& command : commands) {
      if (command.kind != Step::Kind::submit || command.host) continue;
      command.before = trace_marks_[2 * command.op.index()].get();
      command.after = trace_marks_[2 * command.op.index() + 1].get();
    }
  }
}

void CudaExecution::start_trace(const RunOptions& options) {
  recording_.reset();
  by_events_ = options.trace == Trace::events;
  why_by_events_.clear();
  if (options.trace == Trace::best) {
    by_events_ = !activity_available(why_by_events_);
    if (std::ranges::any_of(schedule_.ops, [](const Op& op) { return std::holds_alternative<Prefetch>(op.what); })) {
      why_by_events_ = "prefetches have no activity records";
      by_events_ = true;
    }
    if (!by_events_ && !used_streams_.empty()) {
      try {
        recording_.emplace(schedule_.ops.size());
      } catch (const Error& error) {  // somebody else records
        why_by_events_ = error.what();
        by_events_ = true;
      }
    }
    if (recording_) settle_recording();
  }
  if (!by_events_) return;
  if (clocks_.size() > 1)
    throw Unsupported("events of several GPUs have no common clock: trace by activity records, or without");
  make_trace_events();
}

// The first copy each way and the first kernel behind the start of a recording take milliseconds longer: these are none
// of the schedule's.
void CudaExecution::settle_recording() {
  constexpr Bytes size{64};
  const DeviceMemory device = make_device_memory(api_, size, "the set-up of a recording");
  const PinnedMemory host = make_pinned_memory(api_, size, cudaHostAllocDefault, "the set-up of a recording");
  cudaStream_t stream = used_streams_.front();
  check(api_, api_.memcpy_async(device.get(), host.get(), size.count, cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync", "the set-up of a recording");
  check(api_, api_.memcpy_async(host.get(), device.get(), size.count, cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync", "the set-up of a recording");
  if (gate_ == nullptr) gate_ = std::make_unique<Gate>(api_);
  gate_->close();
  gate_->drain();
  check(api_, api_.stream_synchronize(stream), "cudaStreamSynchronize", "the set-up of a recording");
}

RunResult CudaExecution::run(const RunOptions& options) {
  if (options.hold && !blocks_host_.is_none())
    throw Unsupported(
        fmt::format("{}: the host waits for a copy from or to pageable memory, so this schedule cannot be "
                    "held until it is submitted; pin the memory or run it without holding",
                    describe(schedule_, blocks_host_)));
  if (options.hold && !can_be_held(schedule_))
    throw Unsupported(
        "a schedule that moves managed memory, or copies between GPUs through the host, cannot be held until it is "
        "submitted: the driver may wait for it; run it without holding");
  if (schedule_.ops.empty()) return {};
  if (gpus_.peers != nullptr) gpus_.peers->set(schedule_.peer_access);
  select(selected_.front() = gpus_.gpus.front());
  check(api_, api_.peek_at_last_error(), "a CUDA call", "before this run, unchecked by its caller");
  RunResult result;
  try {
    start_trace(options);
    choose_clock(options);
    for (std::size_t agent = 0; agent < commands_.size(); ++agent) made_[agent] = 0;
    Clock::time_point began;
    if (agents_ != nullptr) {
      began = agents_->run([this](std::size_t agent) { make_calls(agent); }, [&] { start(options); });
    } else {
      start(options);
      began = Clock::now();
      make_calls(0);
    }
    join_queues();
    const Clock::time_point submitted = Clock::now();
    if (options.hold) gate_->release();
    wait_for_end();
    const Clock::time_point end = Clock::now();
    result.submission = submitted - began;
    result.host_total = end - began;
    if (options.hold && gate_->timed_out())
      throw Error(
          fmt::format("the {} ops could not all be submitted within the {} for which they can be held: the "
                      "GPU's queues were full; hold fewer ops at once or run without holding",
                      schedule_.ops.size(), to_string(gate_->limit())));
    give_back();
    result.timeline = timeline(options);
    result.host_spans.resize(host_marks_.size());
    for (std::size_t i = 0; i < host_marks_.size(); ++i) {
      if (!schedule_.ops[i].queue.is_none()) continue;
      result.host_spans[i] = {
          .start = host_marks_[i].start - began, .end = host_marks_[i].end - began, .engine = Engine::host};
      if (!result.timeline.spans.empty()) result.timeline.spans[i] = result.host_spans[i];
    }
    if (options.timed.is_none() && (performs_itself() || used_streams_.empty()))
      result.timeline.makespan = result.host_total;
    if (options.trace != Trace::none)
      result.trace_source = !by_events_              ? "activity records of the GPU (CUPTI)"
                            : why_by_events_.empty() ? "events around each op"
                                                     : fmt::format("events around each op ({})", why_by_events_);
  } catch (...) {
    abandon();
    recording_.reset();  // not before nothing is in flight any more
    throw;
  }
  return result;
}

void CudaExecution::choose_clock(const RunOptions& options) {
  clock_ = nullptr;
  stopping_ = nullptr;
  if (used_streams_.empty()) return;
  const QueueId first = first_queue(options);
  clock_ = &clocks_.at(gpu_of(first));
  if (!options.timed.is_none())
    stopping_ = streams_[first.index()].get();
  else if (end_marks_.size() == 1 && gpu_of(ending_queues_.front()) == gpu_of(first))
    stopping_ = streams_[ending_queues_.front().index()].get();
  select(selected_.front() = gpu_of(first));  // a gate is made there
}

// Behind the gate it is chance which queue comes first, so their common start mark is the gate's own.
void CudaExecution::start(const RunOptions& options) {
  if (used_streams_.empty()) return;
  const bool of_gate = options.hold && options.timed.is_none() && used_streams_.size() > 1;
  if (options.hold) {
    if (gate_ == nullptr) gate_ = std::make_unique<Gate>(api_);
    gate_->close(of_gate ? clock_->start.get() : nullptr);
    for (cudaStream_t stream : used_streams_)
      check(api_, api_.stream_wait_event(stream, gate_->closed(), 0), "cudaStreamWaitEvent", "holding a queue");
  }
  if (!of_gate)
    check(api_, api_.event_record(clock_->start.get(), streams_[first_queue(options).index()].get()), "cudaEventRecord",
          "the start mark");
}

QueueId CudaExecution::first_queue(const RunOptions& options) const {
  if (options.timed.is_none()) return used_queues_.front();
  if (std::ranges::find(used_queues_, options.timed) != used_queues_.end()) return options.timed;
  throw Error(fmt::format("queue {} is to be timed and has no ops", options.timed.value));
}

// Nothing here may allocate or look anything up: its time is a figure that the simulator predicts.
void CudaExecution::make_calls(std::size_t agent) {
  int& selected = selected_[agent];
  const bool alone = agents_ == nullptr;
  std::uint32_t made = 0;
  for (const Command& command : commands_[agent]) {
    if (command.kind == Step::Kind::await) {
      await(command);
      if (agents_->stopped()) return;
    } else if (command.host) {
      perform(command);
      if (command.host->call == HostCall::Kind::allocate) selected = none_selected;  // allocating selects a GPU itself
    } else {
      if (command.stream != nullptr && command.gpu != selected) select(selected = command.gpu);
      const char* call = "";
      if (const cudaError_t error = issue(command, call); error != cudaSuccess) fail(command, error, call);
    }
    if (!alone) made_[agent].store(++made, std::memory_order_release);
  }
}

void CudaExecution::await(const Command& command) const {
  const auto& made = made_[command.awaited_agent];
  while (made.load(std::memory_order_acquire) < command.awaited_steps && !agents_->stopped()) std::this_thread::yield();
}

void CudaExecution::perform(const Command& command) {
  const HostAction& action = *command.host;
  HostMark& mark = host_marks_[command.op.index()];
  mark.start = Clock::now();
  if (action.copies)
    std::memcpy(action.to, action.from, action.length.count);
  else
    call(command, action);
  mark.end = Clock::now();
}

void CudaExecution::call(const Command& command, const HostAction& action) {
  const std::span<std::byte> memory(action.to, action.length.count);
  switch (action.call) {
    case HostCall::Kind::touch:
      return touch_pages(memory);
    case HostCall::Kind::flush:
      return flush_caches(memory);
    case HostCall::Kind::pin: {
      const cudaError_t error =
          api_.host_register(action.to, action.length.count, cudaHostRegisterPortable | cudaHostRegisterMapped);
      if (error != cudaSuccess) fail(command, error, "cudaHostRegister");
      const std::lock_guard lock(pinned_guard_);
      pinned_.push_back(action.to);
      return;
    }
    case HostCall::Kind::unpin: {
      if (const cudaError_t error = api_.host_unregister(action.to); error != cudaSuccess)
        fail(command, error, "cudaHostUnregister");
      const std::lock_guard lock(pinned_guard_);
      std::erase(pinned_, action.to);
      return;
    }
    case HostCall::Kind::allocate: {
      const Buffer& buffer = schedule_.buffers[action.buffer.index()];
      if (!allocate_)
        throw Unsupported(fmt::format("{}: there is nothing here to allocate with", describe(schedule_, command.op)));
      allocated_[action.buffer.index()] = allocate_(buffer.place, buffer.memory, buffer.size);
      return;
    }
    case HostCall::Kind::release:
      allocated_[action.buffer.index()] = Memory();
      return;
  }
}

// What a run has pinned or allocated lasts no longer than it.
void CudaExecution::give_back() noexcept {
  for (std::byte* memory : pinned_)
    if (api_.host_unregister(memory) != cudaSuccess) static_cast<void>(api_.get_last_error());
  pinned_.clear();
  for (Memory& memory : allocated_) memory = Memory();
}

void CudaExecution::join_queues() {
  if (stopping_ != nullptr || used_streams_.empty()) return;
  // Not before everything is submitted: a further queue that waits would be one more that slows the copies down.
  for (const Event& end : end_marks_)
    check(api_, api_.stream_wait_event(clock_->all_ended.get(), end.get(), 0), "cudaStreamWaitEvent",
          "joining the queues");
  check(api_, api_.event_record(clock_->stop.get(), clock_->all_ended.get()), "cudaEventRecord", "the stop mark");
}

cudaError_t CudaExecution::issue(const Command& command, const char*& call) {
  switch (command.kind) {
    case Step::Kind::await:
      return cudaSuccess;
    case Step::Kind::synchronize:
      call = "cudaEventSynchronize";
      return api_.event_synchronize(command.event);
    case Step::Kind::wait:
      call = "cudaStreamWaitEvent";
      return api_.stream_wait_event(command.stream, command.event, 0);
    case Step::Kind::record:
      call = "cudaEventRecord";
      return api_.event_record(command.event, command.stream);
    case Step::Kind::finish:
      if (command.stream == stopping_) return cudaSuccess;  // its stop mark is its end mark
      call = "cudaEventRecord";
      return api_.event_record(command.event, command.stream);
    case Step::Kind::submit:
      break;
  }

  cudaError_t error = cudaSuccess;
  call = "cudaEventRecord";
  if (by_events_) error = api_.event_record(command.before, command.stream);
  if (error != cudaSuccess) return error;
  const ActivityRecording::Op recorded(recording_ ? &*recording_ : nullptr, command.op.value);

  if (command.kernel != nullptr) {
    call = "the kernel launch";
    launch(command);
    error = api_.peek_at_last_error();
  } else if (command.prefetch) {
    call = "cudaMemPrefetchAsync";
    const PrefetchCall& prefetch = *command.prefetch;
    error = api_.mem_prefetch_async(prefetch.data, prefetch.bytes, prefetch.destination, command.stream);
  } else {
    call = "cudaMemcpyAsync";
    const CopyCall& copy = command.copy;
    error = api_.memcpy_async(copy.to, copy.from, copy.bytes, copy.kind, command.stream);
  }
  if (error != cudaSuccess) return error;

  call = "cudaEventRecord";
  if (by_events_) error = api_.event_record(command.after, command.stream);
  if (error != cudaSuccess || !command.last_of_queue || command.stream != stopping_) return error;
  return api_.event_record(clock_->stop.get(), command.stream);
}

void CudaExecution::launch(const Command& command) const {
  try {
    command.kernel->function(command.kernel->launch);
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}: {}", describe(schedule_, command.op), error.what()));
  }
}

void CudaExecution::fail(const Command& command, cudaError_t error, const char* call) const {
  fail_call(api_, error, call, describe(schedule_, command.op));
}

// A queue without an end mark ends before one that has: another queue waits for its last op.
void CudaExecution::wait_for_end() const {
  if (used_streams_.empty()) return;
  check(api_, api_.event_synchronize(clock_->stop.get()), "cudaEventSynchronize", "waiting for the stop mark");
  if (stopping_ == nullptr) return;
  for (std::size_t i = 0; i < end_marks_.size(); ++i) {
    if (streams_[ending_queues_[i].index()].get() == stopping_) continue;
    const cudaError_t error = api_.event_synchronize(end_marks_[i].get());
    if (error != cudaSuccess)
      fail_call(api_, error, "cudaEventSynchronize",
                fmt::format("waiting for the end of queue {}", schedule_.queues[ending_queues_[i].index()].name));
  }
}

void CudaExecution::abandon() noexcept {
  if (gate_ != nullptr) gate_->drain();
  for (cudaStream_t stream : used_streams_) static_cast<void>(api_.stream_synchronize(stream));
  for (const auto& [gpu, clock] : clocks_)
    if (clock.all_ended != nullptr) static_cast<void>(api_.stream_synchronize(clock.all_ended.get()));
  give_back();
  static_cast<void>(api_.get_last_error());
}

Timeline CudaExecution::timeline(const RunOptions& options) {
  Timeline result;
  if (used_streams_.empty()) {
    if (options.trace != Trace::none) result.spans.resize(schedule_.ops.size());
    return result;
  }
  result.makespan = between(clock_->start.get(), clock_->stop.get());
  if (by_events_) add_event_spans(result);
  if (recording_) add_activity_spans(result, options.timed);
  return result;
}

void CudaExecution::add_event_spans(Timeline& timeline) const {
  for (std::size_t i = 0; i < schedule_.ops.size(); ++i) {
    if (schedule_.ops[i].queue.is_none()) {
      timeline.spans.emplace_back();  // by the host's clock
      continue;
    }
    timeline.spans.push_back({.start = between(clock_->start.get(), trace_marks_[2 * i].get()),
                              .end = between(clock_->start.get(), trace_marks_[2 * i + 1].get()),
                              .engine = engine(schedule_, schedule_.ops[i])});
  }
}

// The records' clock is not that of the events; the end of the last op is the same moment on both.
void CudaExecution::add_activity_spans(Timeline& timeline, QueueId timed) {
  const std::vector<ActivitySpan> seen = recording_->take();
  recording_.reset();
  Seconds last{0};
  for (std::size_t i = 0; i < schedule_.ops.size(); ++i)
    if (timed.is_none() || schedule_.ops[i].queue == timed) last = std::max(last, seen[i].end);
  const Seconds shift = timeline.makespan - last;
  for (std::size_t i = 0; i < schedule_.ops.size(); ++i) {
    if (!seen[i].seen && !schedule_.ops[i].queue.is_none())
      throw Error(fmt::format("{}: the GPU's activity records do not hold it; trace by events",
                              describe(schedule_, OpId{static_cast<std::uint32_t>(i)})));
    timeline.spans.push_back(
        {.start = seen[i].start + shift, .end = seen[i].end + shift, .engine = engine(schedule_, schedule_.ops[i])});
  }
}

Seconds CudaExecution::between(cudaEvent_t from, cudaEvent_t to) const {
  float milliseconds_between = 0;
  check(api_, api_.event_elapsed_time(&milliseconds_between, from, to), "cudaEventElapsedTime");
  return milliseconds(milliseconds_between);
}

}  // namespace shiplap
