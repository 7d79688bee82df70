#include "shiplap/device/cuda/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/host_memory.hpp"
#include "shiplap/device/host_work.hpp"

namespace shiplap {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int none_selected = -1;

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
    throw Unsupported("a graph is timed as a whole; submit the schedule op by op to time one of its queues");
  if (options.trace != Trace::none)
    throw Unsupported(
        "the ops of a graph cannot be told apart while it runs; submit the schedule op by op to trace it");
}

CudaExecution::~CudaExecution() {
  if (in_flight_) abandon();
}

void CudaExecution::submit(const RunOptions& options) {
  if (in_flight_) throw Error("a run was submitted that is still in flight: wait for it first");
  require_runnable(options);
  options_ = options;
  if (schedule_.ops.empty()) {
    began_ = submitted_ = Clock::now();
    in_flight_ = true;
    return;
  }
  std::optional<OnCoresOf> bound;
  if (schedule_.agents.front().numa_node) bound.emplace(*schedule_.agents.front().numa_node);
  running_.emplace(ranges_, run_range_);
  in_flight_ = true;
  try {
    if (gpus_.peers != nullptr) gpus_.peers->set(schedule_.peer_access);
    select(selected_.front() = gpus_.gpus.front());
    check(api_, api_.peek_at_last_error(), "a CUDA call", "before this run, unchecked by its caller");
    start_trace();
    choose_clock();
    for (std::size_t agent = 0; agent < commands_.size(); ++agent) made_[agent] = 0;
    if (agents_ != nullptr) {
      began_ = agents_->run([this](std::size_t agent) { make_calls(agent); }, [&] { start(); });
    } else {
      start();
      began_ = Clock::now();
      if (graph_ != nullptr && options_.stop.stop_requested())
        throw Cancelled("the run was stopped before its graph was launched");
      graph_ != nullptr ? launch_graph() : make_calls(0);
    }
    join_queues();
    submitted_ = Clock::now();
    if (gate_) (*gate_)->release();
  } catch (...) {
    abandon();
    throw;
  }
}

RunResult CudaExecution::wait() {
  if (!in_flight_) throw Error("a run is waited for that was not submitted");
  RunResult result;
  result.submission = submitted_ - began_;
  if (schedule_.ops.empty()) {
    in_flight_ = false;
    result.ended = submitted_ - queues_->made;
    return result;
  }
  try {
    wait_for_end();
    const Clock::time_point end = Clock::now();
    result.host_total = end - began_;
    result.ended = end - queues_->made;
    if (gate_ && (*gate_)->timed_out())
      throw Error(
          fmt::format("the {} ops could not all be submitted within the {} for which they can be held: the "
                      "GPU's queues were full; hold fewer ops at once or run without holding",
                      schedule_.ops.size(), to_string((*gate_)->limit())));
    give_back();
    result.timeline = timeline();
    result.host_spans.resize(host_marks_.size());
    for (std::size_t i = 0; i < host_marks_.size(); ++i) {
      if (!schedule_.ops[i].queue.is_none()) continue;
      result.host_spans[i] = {
          .start = host_marks_[i].start - began_, .end = host_marks_[i].end - began_, .engine = Engine::host};
      if (!result.timeline.spans.empty()) result.timeline.spans[i] = result.host_spans[i];
    }
    if (options_.timed.is_none() && (performs_itself() || used_streams_.empty()))
      result.timeline.makespan = result.host_total;
    if (options_.trace != Trace::none)
      result.trace_source = options_.trace == Trace::kernels ? "events around each kernel"
                            : !by_events_                    ? "activity records of the GPU (CUPTI)"
                            : why_by_events_.empty()         ? "events around each op"
                                                     : fmt::format("events around each op ({})", why_by_events_);
    gate_.reset();
    running_.reset();
    in_flight_ = false;
  } catch (...) {
    abandon();
    throw;
  }
  return result;
}

void CudaExecution::choose_clock() {
  clock_ = nullptr;
  stopping_ = nullptr;
  if (used_streams_.empty()) return;
  const QueueId first = first_queue();
  clock_ = &clocks_.at(gpu_of(first));
  if (graph_ != nullptr || !options_.timed.is_none())
    stopping_ = queues_->streams[first.index()].get();
  else if (end_marks_.size() == 1 && gpu_of(ending_queues_.front()) == gpu_of(first))
    stopping_ = queues_->streams[ending_queues_.front().index()].get();
  clock_gpu_ = gpu_of(first);
  select(selected_.front() = clock_gpu_);  // a gate is made there
}

// Behind the gate it is chance which queue comes first, so their common start mark is the gate's own.
void CudaExecution::start() {
  if (used_streams_.empty()) return;
  const bool of_gate = options_.hold && options_.timed.is_none() && starting_streams().size() > 1;
  if (options_.hold) {
    gate_.emplace(gpus_.gates->take(clock_gpu_));
    (*gate_)->close(of_gate ? clock_->start.get() : nullptr);
    for (cudaStream_t stream : starting_streams())
      check(api_, api_.stream_wait_event(stream, (*gate_)->closed(), 0), "cudaStreamWaitEvent", "holding a queue");
  }
  if (!of_gate)
    check(api_, api_.event_record(clock_->start.get(), queues_->streams[first_queue().index()].get()),
          "cudaEventRecord", "the start mark");
}

std::span<const cudaStream_t> CudaExecution::starting_streams() const {
  return graph_ != nullptr ? std::span(used_streams_).first(1) : std::span(used_streams_);
}

void CudaExecution::launch_graph() {
  check(api_, api_.graph_launch(graph_.get(), stopping_), "cudaGraphLaunch",
        fmt::format("a graph of {} ops", schedule_.ops.size()));
  check_of_run(api_.event_record(clock_->stop.get(), stopping_), "cudaEventRecord", "the stop mark");
}

QueueId CudaExecution::first_queue() const {
  if (options_.timed.is_none()) return used_queues_.front();
  if (std::ranges::find(used_queues_, options_.timed) != used_queues_.end()) return options_.timed;
  throw Error(fmt::format("queue {} is to be timed and has no ops", options_.timed.value));
}

// Nothing here may allocate or look anything up: its time is a figure that the simulator predicts.
void CudaExecution::make_calls(std::size_t agent) {
  int& selected = selected_[agent];
  const bool alone = agents_ == nullptr;
  std::uint32_t made = 0;
  for (const Command& command : commands_[agent]) {
    if (command.begins_chunk && options_.stop.stop_requested()) cancel(command);
    if (command.kind == Step::Kind::await) {
      await(command);
      if (agents_->stopped()) return;
    } else if (command.host) {
      // Allocating selects a GPU itself, and has done so when it fails.
      if (command.host->call == HostCall::Kind::allocate) selected = none_selected;
      const Range range(ranges_, command.range);
      perform(command);
    } else {
      if (command.stream != nullptr && command.gpu != selected) {
        if (const cudaError_t error = api_.set_device(command.gpu); error != cudaSuccess)
          fail(command, error, "cudaSetDevice");
        selected = command.gpu;
      }
      const char* call = "";
      if (const cudaError_t error = issue(command, call); error != cudaSuccess) fail(command, error, call);
    }
    if (!alone) made_[agent].store(++made, std::memory_order_release);
  }
}

void CudaExecution::cancel(const Command& command) const {
  throw Cancelled(fmt::format("the run was stopped before {}", describe(schedule_, command.op)));
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
      if (error != cudaSuccess)
        fail_call(api_, error, "cudaHostRegister",
                  fmt::format("{}: {}", describe(schedule_, command.op), to_string(action.length)));
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
    case HostCall::Kind::allocate:
      return allocate(command, action);
    case HostCall::Kind::release:
      allocated_[action.buffer.index()] = Memory();
      return;
    case HostCall::Kind::wait:
      return;  // the steps in front of it have waited
    case HostCall::Kind::create_queue: {
      cudaStream_t stream = nullptr;
      if (const cudaError_t error = api_.stream_create_with_flags(&stream, cudaStreamNonBlocking); error != cudaSuccess)
        fail(command, error, "cudaStreamCreateWithFlags");
      const std::lock_guard lock(pinned_guard_);
      created_.emplace_back(stream, Release<&Api::stream_destroy>{&api_});
      return;
    }
    case HostCall::Kind::destroy_queue: {
      Stream last;
      {
        const std::lock_guard lock(pinned_guard_);
        last = std::move(created_.back());
        created_.pop_back();
      }
      if (const cudaError_t error = api_.stream_destroy(last.get()); error != cudaSuccess)
        fail(command, error, "cudaStreamDestroy");
      static_cast<void>(last.release());
      return;
    }
  }
}

void CudaExecution::allocate(const Command& command, const HostAction& action) {
  named(command.op, [&] {
    if (!allocate_) throw Unsupported("there is nothing here to allocate with");
    const Buffer& buffer = schedule_.buffers[action.buffer.index()];
    allocated_[action.buffer.index()] = allocate_(buffer.place, buffer.memory, buffer.size);
  });
}

// What a run has pinned or allocated lasts no longer than it.
void CudaExecution::give_back() noexcept {
  for (std::byte* memory : pinned_)
    if (api_.host_unregister(memory) != cudaSuccess) static_cast<void>(api_.get_last_error());
  pinned_.clear();
  for (Memory& memory : allocated_) memory = Memory();
  created_.clear();
}

void CudaExecution::join_queues() {
  if (stopping_ != nullptr || used_streams_.empty()) return;
  // Not before everything is submitted: a further queue that waits would be one more that slows the copies down.
  for (const Event& end : end_marks_)
    check_of_run(api_.stream_wait_event(clock_->all_ended, end.get(), 0), "cudaStreamWaitEvent", "joining the queues");
  check_of_run(api_.event_record(clock_->stop.get(), clock_->all_ended), "cudaEventRecord", "the stop mark");
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
  const bool marked = by_events_ && is_marked(schedule_.ops[command.op.index()]);
  if (marked) error = api_.event_record(command.before, command.stream);
  if (error != cudaSuccess) return error;
  const Range range(ranges_, command.range);
  const ActivityRecording::Op recorded(recording_ ? &*recording_ : nullptr, command.op.value);

  if (command.kernel != nullptr) {
    call = "the kernel launch";
    launch(command);
    error = api_.peek_at_last_error();
  } else if (command.prefetch) {
    call = "cudaMemPrefetchAsync";
    const PrefetchCall& prefetch = *command.prefetch;
    error = api_.mem_prefetch_async(prefetch.data, prefetch.bytes, prefetch.destination, command.stream);
  } else if (command.batch) {
    call = "cudaMemcpyBatchAsync";
    const BatchCall& batch = *command.batch;
    error = api_.memcpy_batch_async(batch.to.data(), batch.from.data(), batch.bytes.data(), batch.bytes.size(),
                                    command.stream);
  } else {
    call = "cudaMemcpyAsync";
    const CopyCall& copy = command.copy;
    error = api_.memcpy_async(copy.to, copy.from, copy.bytes, copy.kind, command.stream);
  }
  if (error != cudaSuccess) return error;

  call = "cudaEventRecord";
  if (marked) error = api_.event_record(command.after, command.stream);
  if (error != cudaSuccess || !command.last_of_queue || command.stream != stopping_) return error;
  return api_.event_record(clock_->stop.get(), command.stream);
}

void CudaExecution::launch(const Command& command) const {
  named(command.op, [&] { command.kernel->function(command.kernel->launch); });
}

void CudaExecution::named(OpId op, const auto& action) const {
  const auto message = [&](const char* what) {
    // The thread's own: an action that has thrown because a call of its own failed may have left it pending.
    static_cast<void>(api_.get_last_error());
    return fmt::format("{}: {}", describe(schedule_, op), what);
  };
  try {
    action();
  } catch (const Unsupported& error) {
    throw Unsupported(message(error.what()));
  } catch (const std::exception& error) {
    throw Error(message(error.what()));
  } catch (...) {
    throw Error(message("it has thrown something that says nothing of itself (no std::exception)"));
  }
}

void CudaExecution::fail(const Command& command, cudaError_t error, const char* call) const {
  fail_call(api_, error, call, describe(schedule_, command.op));
}

// A queue without an end mark ends before one that has: another queue waits for its last op.
void CudaExecution::wait_for_end() const {
  if (used_streams_.empty()) return;
  check_of_run(api_.event_synchronize(clock_->stop.get()), "cudaEventSynchronize", "waiting for the stop mark");
  if (stopping_ == nullptr || graph_ != nullptr) return;
  for (std::size_t i = 0; i < end_marks_.size(); ++i) {
    if (queues_->streams[ending_queues_[i].index()].get() == stopping_) continue;
    const cudaError_t error = api_.event_synchronize(end_marks_[i].get());
    if (error != cudaSuccess)  // no text is made in the time of a run that succeeds
      check_of_run(error, "cudaEventSynchronize",
                   "waiting for the end of queue " + schedule_.queues[ending_queues_[i].index()].name);
  }
}

// A GPU says that a kernel has failed, and not which: the call that hears of it behind all ops names them.
void CudaExecution::check_of_run(cudaError_t error, const char* call, std::string_view what) const {
  if (error != cudaSuccess) fail_call(api_, error, call, fmt::format("{}{}", what, kernels()));
}

std::string CudaExecution::kernels() const {
  std::vector<OpId> ops;
  for (std::uint32_t i = 0; i < schedule_.ops.size(); ++i)
    if (std::holds_alternative<Kernel>(schedule_.ops[i].what)) ops.push_back(OpId{i});
  if (ops.empty()) return {};
  const std::string first = describe(schedule_, ops.front());
  if (ops.size() == 1) return fmt::format(" behind {}", first);
  return fmt::format(" behind {} kernels, {} to {}", ops.size(), first, describe(schedule_, ops.back()));
}

void CudaExecution::abandon() noexcept {
  if (gate_) (*gate_)->drain();
  gate_.reset();
  for (cudaStream_t stream : used_streams_) static_cast<void>(api_.stream_synchronize(stream));
  for (const auto& [gpu, clock] : clocks_)
    if (clock.all_ended != nullptr) static_cast<void>(api_.stream_synchronize(clock.all_ended));
  give_back();
  recording_.reset();  // not before nothing is in flight any more
  running_.reset();
  in_flight_ = false;
  static_cast<void>(api_.get_last_error());
}

}  // namespace shiplap
