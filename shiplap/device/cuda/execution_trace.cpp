// Observation of the spans of ops by the GPU's activity records, by events, and by the host's clock.
#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/execution.hpp"

namespace shiplap {
namespace {

Engine engine(const Schedule& schedule, const Op& op) {
  if (op.stream.is_none()) return Engine::host;
  if (const auto* prefetch = std::get_if<Prefetch>(&op.what))
    return prefetch->to.is_gpu() ? Engine::copy_h2d : Engine::copy_d2h;
  const auto* copy = std::get_if<Copy>(&op.what);
  const auto* blocks = std::get_if<BlockCopy>(&op.what);
  const bool by_kernel = blocks != nullptr && blocks->mover.kind == Mover::Kind::kernel;
  if ((copy == nullptr && blocks == nullptr) || by_kernel) return Engine::compute;
  switch (copy != nullptr ? direction(schedule, *copy) : direction(schedule, *blocks)) {
    case CopyDirection::host_to_device:
      return Engine::copy_h2d;
    case CopyDirection::device_to_host:
      return Engine::copy_d2h;
    default:
      return Engine::copy_d2d;
  }
}

}  // namespace

bool CudaExecution::is_marked(const Op& op) const {
  return !op.stream.is_none() && (options_.trace != Trace::kernels || std::holds_alternative<Kernel>(op.what));
}

void CudaExecution::make_trace_events() {
  trace_marks_.resize(2 * schedule_.ops.size());
  for (std::size_t i = 0; i < schedule_.ops.size(); ++i) {
    const Op& op = schedule_.ops[i];
    if (!is_marked(op) || trace_marks_[2 * i + 1] != nullptr) continue;
    select(gpu_of(op.stream));
    for (std::size_t mark : {2 * i, 2 * i + 1}) trace_marks_[mark] = make_timing_event(api_, "the trace of ops");
  }
  for (auto& commands : commands_) {
    for (Command& command : commands) {
      if (command.kind != SubmissionStep::Kind::submit || command.host) continue;
      command.before = trace_marks_[2 * command.op.index()].get();
      command.after = trace_marks_[2 * command.op.index() + 1].get();
    }
  }
}

void CudaExecution::start_trace() {
  recording_.reset();
  by_events_ = options_.trace == Trace::events || options_.trace == Trace::kernels;
  why_by_events_.clear();
  if (options_.trace == Trace::best) {
    by_events_ = !activity_available(why_by_events_);
    if (std::ranges::any_of(schedule_.ops, [](const Op& op) { return std::holds_alternative<Prefetch>(op.what); })) {
      why_by_events_ = "prefetches have no activity records";
      by_events_ = true;
    }
    if (!by_events_ && !used_handles_.empty()) {
      try {
        recording_.emplace(schedule_.ops.size());
      } catch (const Error& error) {  // another run is being recorded
        why_by_events_ = error.what();
        by_events_ = true;
      }
    }
    if (recording_) warm_up_recording();
  }
  if (!by_events_) return;
  if (clocks_.size() > 1)
    throw Unsupported("events of several GPUs have no common clock: trace by activity records, or without");
  make_trace_events();
}

// The first copy in each direction and the first kernel after the start of a recording take milliseconds longer. This
// runs them before the ops of the schedule.
void CudaExecution::warm_up_recording() {
  constexpr Bytes size{64};
  const DeviceMemory device = make_device_memory(api_, size, "the set-up of a recording");
  const PinnedMemory host = make_pinned_memory(api_, size, cudaHostAllocDefault, "the set-up of a recording");
  cudaStream_t stream = used_handles_.front();
  check(api_, api_.memcpy_async(device.get(), host.get(), size.count, cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync", "the set-up of a recording");
  check(api_, api_.memcpy_async(host.get(), device.get(), size.count, cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync", "the set-up of a recording");
  const Gates::Use gate = gpus_.gates->take(gpus_.gpus.front());
  try {
    gate->close();
  } catch (...) {
    gate->drain();
    throw;
  }
  gate->drain();
  check(api_, api_.stream_synchronize(stream), "cudaStreamSynchronize", "the set-up of a recording");
}

Timeline CudaExecution::timeline() {
  Timeline result;
  if (used_handles_.empty()) {
    if (options_.trace != Trace::none) result.spans.resize(schedule_.ops.size());
    return result;
  }
  result.makespan = between(clock_->start.get(), clock_->stop.get());
  if (by_events_) add_event_spans(result);
  if (recording_) add_activity_spans(result);
  return result;
}

void CudaExecution::add_event_spans(Timeline& timeline) const {
  for (std::size_t i = 0; i < schedule_.ops.size(); ++i) {
    if (!is_marked(schedule_.ops[i])) {
      timeline.spans.emplace_back();  // ops of host agents have their own clock
      continue;
    }
    const OpId op{static_cast<std::uint32_t>(i)};
    timeline.spans.push_back({.start = between(clock_->start.get(), trace_marks_[2 * i].get(), op),
                              .end = between(clock_->start.get(), trace_marks_[2 * i + 1].get(), op),
                              .engine = engine(schedule_, schedule_.ops[i])});
  }
}

// Activity records and events have different clocks, which are aligned at the end of the last op.
void CudaExecution::add_activity_spans(Timeline& timeline) {
  const std::vector<ActivitySpan> seen = recording_->take();
  recording_.reset();
  Seconds last{0};
  for (std::size_t i = 0; i < schedule_.ops.size(); ++i)
    if (options_.timed.is_none() || schedule_.ops[i].stream == options_.timed) last = std::max(last, seen[i].end);
  const Seconds shift = timeline.makespan - last;
  for (std::size_t i = 0; i < schedule_.ops.size(); ++i) {
    if (!seen[i].seen && !schedule_.ops[i].stream.is_none())
      throw Error(fmt::format("{}: the GPU's activity records do not hold it; trace by events",
                              describe(schedule_, OpId{static_cast<std::uint32_t>(i)})));
    timeline.spans.push_back(
        {.start = seen[i].start + shift, .end = seen[i].end + shift, .engine = engine(schedule_, schedule_.ops[i])});
  }
}

Seconds CudaExecution::between(cudaEvent_t from, cudaEvent_t to, OpId op) const {
  float milliseconds_between = 0;
  if (const cudaError_t error = api_.event_elapsed_time(&milliseconds_between, from, to); error != cudaSuccess)
    fail_call(api_, error, "cudaEventElapsedTime", op.is_none() ? "the makespan" : describe(schedule_, op));
  return milliseconds(milliseconds_between);
}

}  // namespace shiplap
