#include "shiplap/device/cuda/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/requirements.hpp"
#include "shiplap/schedule/validate.hpp"

namespace shiplap {
namespace {

using Clock = std::chrono::steady_clock;

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

bool is_pageable_copy(const Schedule& schedule, const Op& op) {
  const auto* copy = std::get_if<Copy>(&op.what);
  if (copy == nullptr) return false;
  const auto pageable = [&](const Region& r) {
    return schedule.buffers[r.buffer.index()].memory == MemoryKind::pageable;
  };
  return pageable(copy->from) || pageable(copy->to);
}

}  // namespace

CudaExecution::CudaExecution(const Schedule& schedule, const Bindings& bindings, int device, const Api& api)
    : api_(api), device_(device), schedule_(schedule) {
  validate(schedule_);
  require_supported(schedule_);
  check(api_, api_.set_device(device_), "cudaSetDevice");
  require_fitting(schedule_, bindings, device_, api_);
  resolve(bindings);
}

void CudaExecution::resolve(const Bindings& bindings) {
  const Submission calls = submission(schedule_);
  const std::size_t queues = schedule_.queues.size();
  for (std::size_t i = 0; i < queues; ++i) streams_.push_back(make_stream(api_));
  for (std::uint32_t i = 0; i < calls.events; ++i) order_events_.push_back(make_order_event(api_));
  start_mark_ = make_timing_event(api_);
  stop_mark_ = make_timing_event(api_);

  const auto address = [&](const Region& r) { return bindings.buffers[r.buffer.index()] + r.offset.count; };
  std::vector<bool> started(queues, false);
  std::vector<std::size_t> last_submit(queues, 0);
  kernel_calls_.reserve(schedule_.ops.size());  // commands point into it

  for (const Step& step : calls.agents.at(0)) {
    const Op& op = schedule_.ops[step.op.index()];
    Command command;
    command.kind = step.kind;
    command.op = step.op;
    command.stream = streams_[step.queue.index()].get();
    if (step.kind == Step::Kind::wait || step.kind == Step::Kind::record)
      command.event = order_events_[step.event.index()].get();
    if (step.kind == Step::Kind::finish) {
      end_marks_.push_back(make_order_event(api_));
      ending_queues_.push_back(step.queue);
      command.event = end_marks_.back().get();
    }
    if (step.kind == Step::Kind::submit) {
      if (!started[step.queue.index()]) {
        started[step.queue.index()] = true;
        used_streams_.push_back(command.stream);
      }
      last_submit[step.queue.index()] = commands_.size();
      if (blocks_host_.is_none() && is_pageable_copy(schedule_, op)) blocks_host_ = step.op;
      if (const auto* copy = std::get_if<Copy>(&op.what)) {
        command.copy = {.to = address(copy->to),
                        .from = address(copy->from),
                        .bytes = copy->from.length.count,
                        .kind = memcpy_kind(direction(schedule_, *copy))};
      } else {
        const Kernel& kernel = std::get<Kernel>(op.what);
        KernelCall& call = kernel_calls_.emplace_back();
        call.function = bindings.kernels[kernel.kernel.index()].cuda;
        for (const Access& operand : kernel.operands) {
          call.operands.push_back(address(operand.region));
          call.lengths.push_back(operand.region.length);
        }
        call.launch = {.first_item = kernel.first_item,
                       .items = kernel.items,
                       .operands = call.operands,
                       .lengths = call.lengths,
                       .blocks = kernel.blocks,
                       .stream = command.stream};
        command.kernel = &call;
      }
    }
    commands_.push_back(command);
  }
  for (std::size_t q = 0; q < queues; ++q)
    if (started[q]) commands_[last_submit[q]].last_of_queue = true;
  if (end_marks_.size() > 1) all_ended_ = make_stream(api_);
}

void CudaExecution::make_trace_events() {
  if (!trace_marks_.empty()) return;
  std::vector<Event> marks;
  for (std::size_t i = 0; i < 2 * schedule_.ops.size(); ++i) marks.push_back(make_timing_event(api_));
  trace_marks_ = std::move(marks);
  for (Command& command : commands_) {
    if (command.kind != Step::Kind::submit) continue;
    command.before = trace_marks_[2 * command.op.index()].get();
    command.after = trace_marks_[2 * command.op.index() + 1].get();
  }
}

void CudaExecution::start_trace(const RunOptions& options) {
  recording_.reset();
  by_events_ = options.trace == Trace::events;
  why_by_events_.clear();
  if (options.trace == Trace::best) {
    by_events_ = !activity_available(why_by_events_);
    if (!by_events_) {
      try {
        recording_.emplace(schedule_.ops.size());
      } catch (const Error& error) {  // somebody else records
        why_by_events_ = error.what();
        by_events_ = true;
      }
    }
    if (recording_) settle_recording();
  }
  if (by_events_) make_trace_events();
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
  if (commands_.empty()) return {};
  check(api_, api_.set_device(device_), "cudaSetDevice");
  check(api_, api_.peek_at_last_error(), "a CUDA call", "before this run, unchecked by its caller");
  RunResult result;
  try {
    start_trace(options);
    stopping_ = !options.timed.is_none() ? first_stream(options)
                : end_marks_.size() == 1 ? streams_[ending_queues_.front().index()].get()
                                         : nullptr;
    start(options);
    const Clock::time_point start = Clock::now();
    submit();
    const Clock::time_point submitted = Clock::now();
    if (options.hold) gate_->release();
    wait_for_end();
    const Clock::time_point end = Clock::now();
    result.submission = submitted - start;
    result.host_total = end - start;
    if (options.hold && gate_->timed_out())
      throw Error(
          fmt::format("the {} ops could not all be submitted within the {} for which they can be held: the "
                      "GPU's queues were full; hold fewer ops at once or run without holding",
                      schedule_.ops.size(), to_string(gate_->limit())));
    result.timeline = timeline(options);
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

// Behind the gate it is chance which queue comes first, so their common start mark is the gate's own.
void CudaExecution::start(const RunOptions& options) {
  const bool of_gate = options.hold && options.timed.is_none() && used_streams_.size() > 1;
  if (options.hold) {
    if (gate_ == nullptr) gate_ = std::make_unique<Gate>(api_);
    gate_->close(of_gate ? start_mark_.get() : nullptr);
    for (cudaStream_t stream : used_streams_)
      check(api_, api_.stream_wait_event(stream, gate_->closed(), 0), "cudaStreamWaitEvent", "holding a queue");
  }
  if (!of_gate)
    check(api_, api_.event_record(start_mark_.get(), first_stream(options)), "cudaEventRecord", "the start mark");
}

cudaStream_t CudaExecution::first_stream(const RunOptions& options) const {
  if (options.timed.is_none()) return used_streams_.front();
  if (options.timed.index() < streams_.size()) {
    const cudaStream_t timed = streams_[options.timed.index()].get();
    if (std::ranges::find(used_streams_, timed) != used_streams_.end()) return timed;
  }
  throw Error(fmt::format("queue {} is to be timed and has no ops", options.timed.value));
}

// Nothing here may allocate or look anything up: its time is a figure that the simulator predicts.
void CudaExecution::submit() {
  for (const Command& command : commands_) {
    const char* call = "";
    if (const cudaError_t error = issue(command, call); error != cudaSuccess) fail(command, error, call);
  }
  if (stopping_ != nullptr) return;
  // Not before everything is submitted: a further queue that waits would be one more that slows the copies down.
  for (const Event& end : end_marks_)
    check(api_, api_.stream_wait_event(all_ended_.get(), end.get(), 0), "cudaStreamWaitEvent", "joining the queues");
  check(api_, api_.event_record(stop_mark_.get(), all_ended_.get()), "cudaEventRecord", "the stop mark");
}

cudaError_t CudaExecution::issue(const Command& command, const char*& call) {
  switch (command.kind) {
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
  } else {
    call = "cudaMemcpyAsync";
    const CopyCall& copy = command.copy;
    error = api_.memcpy_async(copy.to, copy.from, copy.bytes, copy.kind, command.stream);
  }
  if (error != cudaSuccess) return error;

  call = "cudaEventRecord";
  if (by_events_) error = api_.event_record(command.after, command.stream);
  if (error != cudaSuccess || !command.last_of_queue || command.stream != stopping_) return error;
  return api_.event_record(stop_mark_.get(), command.stream);
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
  check(api_, api_.event_synchronize(stop_mark_.get()), "cudaEventSynchronize", "waiting for the stop mark");
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
  if (all_ended_ != nullptr) static_cast<void>(api_.stream_synchronize(all_ended_.get()));
  static_cast<void>(api_.get_last_error());
}

Timeline CudaExecution::timeline(const RunOptions& options) {
  Timeline result;
  result.makespan = between(start_mark_.get(), stop_mark_.get());
  if (by_events_) add_event_spans(result);
  if (recording_) add_activity_spans(result, options.timed);
  return result;
}

void CudaExecution::add_event_spans(Timeline& timeline) const {
  for (std::size_t i = 0; i < schedule_.ops.size(); ++i)
    timeline.spans.push_back({.start = between(start_mark_.get(), trace_marks_[2 * i].get()),
                              .end = between(start_mark_.get(), trace_marks_[2 * i + 1].get()),
                              .engine = engine(schedule_, schedule_.ops[i])});
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
    if (!seen[i].seen)
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
