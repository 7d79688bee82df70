// The calls of a run. Each agent makes the calls of its commands in order and performs its own ops.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/execution.hpp"
#include "shiplap/device/cuda/host_wait.hpp"
#include "shiplap/device/cuda/pins.hpp"
#include "shiplap/device/host_work.hpp"

namespace shiplap {
namespace {

using Clock = std::chrono::steady_clock;

/// Value for an unknown selected GPU.
constexpr int none_selected = -1;

}  // namespace

// This function must not allocate or search, because the time of these calls is measured and predicted.
void CudaExecution::make_calls(std::size_t agent) {
  int& selected = selected_[agent];
  const bool alone = agents_ == nullptr;
  std::uint32_t made = 0;
  for (const Command& command : commands_[agent]) {
    // The output of a chunk whose kernel is not launched stays as it was. Another agent may have begun the chunk long
    // before.
    const bool goes_on = command.may_stop || (!alone && command.kernel != nullptr);
    if (goes_on && options_.stop && options_.stop()) cancel(command);
    if (goes_on && !alone && agents_->has_failed()) cancel(command);
    if (command.kind == SubmissionStep::Kind::await) {
      if (!await(command)) return;
    } else if (command.host) {
      // Allocation changes the selected GPU, also when it fails, and a function of the caller may.
      if (command.host->call == HostCall::Kind::allocate || command.kernel != nullptr) selected = none_selected;
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

bool CudaExecution::await(const Command& command) const {
  const auto has_made = [&] {
    return made_[command.awaited_agent].load(std::memory_order_acquire) >= command.awaited_steps;
  };
  if (has_made()) return true;
  const Pauses pause(microseconds(50));
  while (!has_made()) {
    if (agents_->has_ended(command.awaited_agent)) return has_made();
    pause();
  }
  return true;
}

cudaError_t CudaExecution::issue(const Command& command, const char*& call) {
  switch (command.kind) {
    case SubmissionStep::Kind::await:
      return cudaSuccess;
    case SubmissionStep::Kind::synchronize:
      return wait_for_event(command.event, call);
    case SubmissionStep::Kind::wait:
      call = "cudaStreamWaitEvent";
      return api_.stream_wait_event(command.stream, command.event, 0);
    case SubmissionStep::Kind::record:
      call = "cudaEventRecord";
      return api_.event_record(command.event, command.stream);
    case SubmissionStep::Kind::finish:
      if (command.stream == stopping_) return cudaSuccess;  // the stop event is also the end event of this stream
      call = "cudaEventRecord";
      return api_.event_record(command.event, command.stream);
    case SubmissionStep::Kind::submit:
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
  } else if (command.blocks) {
    const BlockCall& blocks = *command.blocks;
    error = move_by(api_, blocks.move, blocks.mover, blocks.batch.get(), command.stream, call);
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
  if (error != cudaSuccess || !command.last_of_stream || command.stream != stopping_) return error;
  return api_.event_record(clock_->stop.get(), command.stream);
}

cudaError_t CudaExecution::wait_for_event(cudaEvent_t event, const char*& call) const {
  const Waited waited = wait_for(api_, event, deadline_);
  call = waited.call;
  return waited.error;
}

void CudaExecution::launch(const Command& command) const {
  named(command.op, [&] { command.kernel->function(command.kernel->launch); });
}

void CudaExecution::perform(const Command& command) {
  const HostAction& action = *command.host;
  HostMark& mark = host_marks_[command.op.index()];
  mark.start = Clock::now();
  if (command.kernel != nullptr)
    launch(command);
  else if (command.blocks)
    move_on_host(command.blocks->move);
  else if (action.copies)
    action.copy();
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
      Memory pinned = pin_in_process(api_, action.to, action.length, [&] {
        return fmt::format("{}: {}", describe(schedule_, command.op), to_string(action.length));
      });
      const std::lock_guard lock(obtained_guard_);
      pinned_.push_back(std::move(pinned));
      return;
    }
    case HostCall::Kind::unpin: {
      Memory last;  // unpins outside of the lock
      const std::lock_guard lock(obtained_guard_);
      const auto pinned = std::ranges::find(pinned_, action.to, &Memory::data);
      last = std::move(*pinned);
      pinned_.erase(pinned);
      return;
    }
    case HostCall::Kind::allocate:
      return allocate(command, action);
    case HostCall::Kind::release:
      allocated_[action.buffer.index()] = Memory();
      return;
    case HostCall::Kind::wait:
      return be_busy(action.work);  // earlier steps have waited already
    case HostCall::Kind::create_stream: {
      cudaStream_t stream = nullptr;
      if (const cudaError_t error = api_.stream_create_with_flags(&stream, cudaStreamNonBlocking); error != cudaSuccess)
        fail(command, error, "cudaStreamCreateWithFlags");
      const std::lock_guard lock(obtained_guard_);
      created_.emplace_back(stream, Release<&Api::stream_destroy>(api_));
      return;
    }
    case HostCall::Kind::destroy_stream: {
      StreamHandle last;
      {
        const std::lock_guard lock(obtained_guard_);
        last = std::move(created_.back());
        created_.pop_back();
      }
      // When this fails, the destructor of `last` tries once more.
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

void CudaExecution::named(OpId op, const auto& action) const {
  // A call that failed inside the action may have left an error in the thread.
  const auto clear_error = [&] { static_cast<void>(api_.get_last_error()); };
  const auto message = [&](const char* what) {
    clear_error();
    return fmt::format("{}: {}", describe(schedule_, op), what);
  };
  try {
    action();
  } catch (const Cancelled&) {
    clear_error();
    throw;
  } catch (const Unsupported& error) {
    std::throw_with_nested(Unsupported(message(error.what())));
  } catch (const std::exception& error) {
    std::throw_with_nested(Error(message(error.what())));
  } catch (...) {
    std::throw_with_nested(Error(message("it has thrown something that says nothing of itself (no std::exception)")));
  }
}

void CudaExecution::fail(const Command& command, cudaError_t error, const char* call) const {
  if (error == cudaErrorNotReady) time_out(describe(schedule_, command.op));
  fail_call(api_, error, call, describe(schedule_, command.op));
}

}  // namespace shiplap
