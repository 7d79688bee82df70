#include "shiplap/device/cuda/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/callers_gpu.hpp"
#include "shiplap/device/cuda/host_wait.hpp"
#include "shiplap/device/cuda/numa.hpp"

namespace shiplap {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

void CudaExecution::require_runnable(const RunOptions& options) const {
  if (options.hold && !blocks_host_.is_none())
    throw Unsupported(fmt::format(
        "{}: the host waits for it (a copy of pageable memory, or work of its own), so this schedule cannot "
        "be held until it is submitted; pin the memory or run it without holding",
        describe(schedule_, blocks_host_)));
  if (options.hold && !can_be_held(schedule_))
    throw Unsupported(
        "a schedule that moves managed memory, or copies between GPUs through the host, cannot be held until it is "
        "submitted: the driver may wait for it; run it without holding");
  const bool all_traced = options.trace != Trace::none && options.trace != Trace::kernels;
  if (all_traced && std::ranges::any_of(schedule_.ops, &Op::batched))
    throw Unsupported("the copies of a batch cannot be told apart while it runs; submit them one by one to trace them");
  if (graph_ == nullptr) return;
  if (!options.timed.is_none())
    throw Unsupported("a graph is timed as a whole; submit the schedule op by op to time one of its streams");
  if (options.trace != Trace::none)
    throw Unsupported(
        "the ops of a graph cannot be told apart while it runs; submit the schedule op by op to trace it");
}

CudaExecution::~CudaExecution() {
  if (!in_flight_ && !enqueued_) return;
  const CallersGpu callers(api_);
  wait_for_enqueued();
  if (!in_flight_) return;
  static_cast<void>(api_.set_device(gpus_.gpus.front()));
  abandon(Deadline{});  // the destructor waits without limit
}

bool CudaExecution::overdue() const {
  if (!overdue_) return false;
  const CallersGpu callers(api_);
  static_cast<void>(api_.set_device(gpus_.gpus.front()));
  return std::ranges::any_of(used_handles_, [this](cudaStream_t stream) {
    const bool busy = api_.stream_query(stream) == cudaErrorNotReady;
    if (busy) static_cast<void>(api_.get_last_error());
    return busy;
  });
}

void CudaExecution::leave_overdue_run() {
  if (overdue()) time_out("an earlier run");
  if (std::exchange(overdue_, false)) abandon(Deadline{});
}

void CudaExecution::submit(const RunOptions& options) {
  const CallersGpu callers(api_);
  leave_overdue_run();
  if (in_flight_) throw Error("a run was submitted that is still in flight: wait for it first");
  require_runnable(options);
  deadline_ = Deadline::in(options.limit);
  if (lists_) lists_->check();
  options_ = options;
  if (schedule_.ops.empty()) {
    began_ = submitted_ = Clock::now();
    in_flight_ = true;
    return;
  }
  std::optional<OnCoresOf> bound;
  if (const auto node = node_of(0)) bound.emplace(*node);
  running_.emplace(ranges_, run_range_);
  in_flight_ = true;
  try {
    if (gpus_.peers != nullptr) peer_use_.emplace(PeerAccess::set(gpus_.peers, schedule_.peer_access));
    select(selected_.front() = gpus_.gpus.front());
    check(api_, api_.peek_at_last_error(), "a CUDA call", "before this run, unchecked by its caller");
    start_trace();
    choose_clock();
    for (std::size_t agent = 0; agent < commands_.size(); ++agent) made_[agent] = 0;
    if (agents_ != nullptr) {
      began_ = agents_->run([this](std::size_t agent) { make_calls(agent); }, [&] { start(); },
                            [this] {
                              if (options_.stop && options_.stop())
                                throw Cancelled("the run was stopped before its next chunk");
                            });
    } else {
      start();
      began_ = Clock::now();
      if (graph_ != nullptr && options_.stop && options_.stop())
        throw Cancelled("the run was stopped before its graph was launched");
      graph_ != nullptr ? launch_graph() : make_calls(0);
    }
    join_streams();
    submitted_ = Clock::now();
    if (gate_) (*gate_)->release();
  } catch (...) {
    leave_failed_run();
  }
}

RunResult CudaExecution::wait() {
  const CallersGpu callers(api_);
  leave_overdue_run();
  if (!in_flight_) throw Error("no run was submitted: submit one before waiting for it");
  RunResult result;
  if (schedule_.ops.empty()) {
    result.submission = submitted_ - began_;
    result.ended = submitted_ - streams_->made;
    in_flight_ = false;
    return result;
  }
  try {
    select(gpus_.gpus.front());
    wait_for_end();
    result = observed();
    gate_.reset();
    running_.reset();
    peer_use_.reset();
    in_flight_ = false;
  } catch (...) {
    leave_failed_run();
  }
  return result;
}

RunResult CudaExecution::observed() {
  RunResult result;
  const Clock::time_point end = Clock::now();
  result.submission = submitted_ - began_;
  result.host_total = end - began_;
  result.ended = end - streams_->made;
  if (gate_ && (*gate_)->timed_out())
    throw Error(
        fmt::format("the {} ops could not all be submitted within the {} for which they can be held: the "
                    "GPU's hardware queues were full; hold fewer ops at once or run without holding",
                    schedule_.ops.size(), to_string((*gate_)->limit())));
  give_back();
  result.timeline = timeline();
  result.host_spans.resize(host_marks_.size());
  for (std::size_t i = 0; i < host_marks_.size(); ++i) {
    if (!schedule_.ops[i].stream.is_none()) continue;
    result.host_spans[i] = {
        .start = host_marks_[i].start - began_, .end = host_marks_[i].end - began_, .engine = Engine::host};
    if (!result.timeline.spans.empty()) result.timeline.spans[i] = result.host_spans[i];
  }
  if (options_.timed.is_none() && (performs_itself() || used_handles_.empty()))
    result.timeline.makespan = result.host_total;
  result.trace_source = source_of_trace();
  return result;
}

std::string CudaExecution::source_of_trace() const {
  if (options_.trace == Trace::none) return {};
  if (options_.trace == Trace::kernels) return "events around each kernel";
  if (!by_events_) return "activity records of the GPU (CUPTI)";
  return why_by_events_.empty() ? "events around each op" : fmt::format("events around each op ({})", why_by_events_);
}

void CudaExecution::choose_clock() {
  clock_ = nullptr;
  stopping_ = nullptr;
  if (used_handles_.empty()) return;
  const StreamId first = first_stream();
  clock_ = &clocks_.at(gpu_of(first));
  if (graph_ != nullptr || !options_.timed.is_none())
    stopping_ = streams_->handles[first.index()].get();
  else if (end_marks_.size() == 1 && gpu_of(ending_streams_.front()) == gpu_of(first))
    stopping_ = streams_->handles[ending_streams_.front().index()].get();
  clock_gpu_ = gpu_of(first);
  select(selected_.front() = clock_gpu_);  // a gate is created on this GPU
}

// The order in which held streams continue is random, so the start event of several held streams is the gate's own.
void CudaExecution::start() {
  if (used_handles_.empty()) return;
  const bool of_gate = options_.hold && options_.timed.is_none() && starting_streams().size() > 1;
  if (options_.hold) {
    gate_.emplace(gpus_.gates->take(clock_gpu_));
    (*gate_)->close(of_gate ? clock_->start.get() : nullptr);
    for (cudaStream_t stream : starting_streams())
      check(api_, api_.stream_wait_event(stream, (*gate_)->closed(), 0), "cudaStreamWaitEvent", "holding a stream");
  }
  if (!of_gate)
    check(api_, api_.event_record(clock_->start.get(), streams_->handles[first_stream().index()].get()),
          "cudaEventRecord", "the start mark");
}

StreamId CudaExecution::first_stream() const {
  if (options_.timed.is_none()) return used_streams_.front();
  if (std::ranges::find(used_streams_, options_.timed) != used_streams_.end()) return options_.timed;
  throw Error(fmt::format("stream {} is to be timed and has no ops", options_.timed.value));
}

// Memory and streams that ops have pinned, allocated or created are released at the end of the run.
void CudaExecution::give_back() noexcept {
  pinned_.clear();
  for (Memory& memory : allocated_) memory = Memory();
  created_.clear();
}

void CudaExecution::join_streams() {
  if (stopping_ != nullptr || used_handles_.empty()) return;
  // These waits are submitted last, because a further waiting stream would slow the copies down.
  for (const Event& end : end_marks_)
    check_of_run(api_.stream_wait_event(clock_->all_ended, end.get(), 0), "cudaStreamWaitEvent", "joining the streams");
  check_of_run(api_.event_record(clock_->stop.get(), clock_->all_ended), "cudaEventRecord", "the stop mark");
}

// A stream has no end event when another stream waits for its last op, because that stream ends later.
void CudaExecution::wait_for_end() const {
  if (used_handles_.empty()) return;
  const Waited stop = wait_for(api_, clock_->stop.get(), deadline_);
  check_of_run(stop.error, stop.call, "waiting for the stop mark");
  if (stopping_ == nullptr || graph_ != nullptr) return;
  for (std::size_t i = 0; i < end_marks_.size(); ++i) {
    if (streams_->handles[ending_streams_[i].index()].get() == stopping_) continue;
    const Waited end = wait_for(api_, end_marks_[i].get(), deadline_);
    if (end.error != cudaSuccess)  // the text is only made after a failure, because this is timed
      check_of_run(end.error, end.call,
                   "waiting for the end of stream " + schedule_.streams[ending_streams_[i].index()].name);
  }
}

// The GPU reports that a kernel has failed, but not which one. After the last op, the message names all kernels.
void CudaExecution::check_of_run(cudaError_t error, const char* call, std::string_view what) const {
  if (error == cudaErrorNotReady) time_out(fmt::format("{}{}", what, kernels()));
  if (error != cudaSuccess) fail_call(api_, error, call, fmt::format("{}{}", what, kernels()));
}

std::string CudaExecution::why_timed_out(std::string_view what) const {
  return fmt::format(
      "{} did not end within the time limit of {}: the GPU still works on it, and its memory stays in use; a "
      "kernel that never ends is stopped only by ending this process",
      what, to_string(options_.limit));
}

void CudaExecution::time_out(std::string_view what) const { throw TimedOut(why_timed_out(what)); }

std::string CudaExecution::kernels() const {
  std::vector<OpId> ops;
  for (std::uint32_t i = 0; i < schedule_.ops.size(); ++i)
    if (std::holds_alternative<Kernel>(schedule_.ops[i].what)) ops.push_back(OpId{i});
  if (ops.empty()) return {};
  const std::string first = describe(schedule_, ops.front());
  if (ops.size() == 1) return fmt::format(" behind {}", first);
  return fmt::format(" behind {} kernels, {} to {}", ops.size(), first, describe(schedule_, ops.back()));
}

// The time limit also holds for what was submitted before the error.
void CudaExecution::leave_failed_run() {
  overdue_ = !abandon(deadline_);
  if (!overdue_) throw;
  try {
    throw;
  } catch (const TimedOut&) {
    throw;
  } catch (const std::exception& error) {
    std::throw_with_nested(
        TimedOut(fmt::format("{}; then {}", error.what(), why_timed_out("what was submitted before"))));
  } catch (...) {
    time_out("what was submitted before an error");
  }
}

bool CudaExecution::ends_by(const Deadline& deadline, cudaStream_t stream) const {
  const cudaError_t error = wait_for(api_, stream, deadline).error;
  if (error != cudaSuccess) static_cast<void>(api_.get_last_error());
  return error != cudaErrorNotReady;
}

// After a time-out nothing is waited for or released, because CUDA would wait for the kernels that run.
bool CudaExecution::abandon(const Deadline& deadline) noexcept {
  if (gate_) (*gate_)->release();
  const bool ended =
      std::ranges::all_of(used_handles_, [&](cudaStream_t stream) { return ends_by(deadline, stream); }) &&
      std::ranges::all_of(clocks_, [&](const auto& clock) {
        return clock.second.all_ended == nullptr || ends_by(deadline, clock.second.all_ended);
      });
  if (ended && gate_) (*gate_)->drain();
  gate_.reset();
  if (!ended) return false;
  give_back();
  recording_.reset();  // the recording ends here, when nothing is in flight
  running_.reset();
  peer_use_.reset();
  in_flight_ = false;
  static_cast<void>(api_.get_last_error());
  return true;
}

}  // namespace shiplap
