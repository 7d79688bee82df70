#include <atomic>
#include <new>
#include <thread>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/gate.hpp"

namespace shiplap {
namespace {

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Ends when the host sets `open`, or sets `timed_out` and ends after `limit` nanoseconds.
__global__ void hold_until_open(const volatile std::uint32_t* open, volatile std::uint32_t* timed_out,
                                std::uint64_t limit) {
  const std::uint64_t start = nanoseconds();
  while (*open == 0) {
    if (nanoseconds() - start > limit) {
      *timed_out = 1;
      __threadfence_system();
      return;
    }
  }
}

}  // namespace

const void* gate_kernel() { return reinterpret_cast<const void*>(&hold_until_open); }

Gate::Gate(const Api& api, Seconds limit)
    : api_(api),
      own_(api),
      limit_(limit),
      memory_(make_pinned_memory(api, {sizeof(Flags)}, cudaHostAllocMapped, "the flags of the gate")),
      behind_(make_order_event(api, "the gate")),
      stream_(make_stream(api, "the gate")) {
  flags_ = new (memory_.get()) Flags{.open = 1, .timed_out = 0};
  void* device_side = nullptr;
  check(api_, api_.host_get_device_pointer(&device_side, flags_, 0), "cudaHostGetDevicePointer",
        "the flags of the gate");
  device_flags_ = static_cast<Flags*>(device_side);
}

Gate::~Gate() {
  const OwnContext::Scope scope(own_);
  drain();
}

void Gate::close(cudaEvent_t mark) {
  // The previous kernel must have ended, because it would react to the flag of the new one.
  check(api_, api_.stream_synchronize(stream_.get()), "cudaStreamSynchronize", "the gate");
  flags_->timed_out = 0;
  std::atomic_ref(flags_->open).store(0, std::memory_order_release);

  const volatile std::uint32_t* open = &device_flags_->open;
  volatile std::uint32_t* timed_out = &device_flags_->timed_out;
  auto limit = static_cast<std::uint64_t>(limit_.count() * 1e9);
  void* arguments[] = {&open, &timed_out, &limit};
  check(api_, api_.launch_kernel(gate_kernel(), dim3(1), dim3(1), arguments, 0, stream_.get()), "cudaLaunchKernel",
        "the gate");
  if (mark != nullptr) check(api_, api_.event_record(mark, stream_.get()), "cudaEventRecord", "the start mark");
  check(api_, api_.event_record(behind_.get(), stream_.get()), "cudaEventRecord", "the gate");
}

void Gate::release() noexcept { std::atomic_ref(flags_->open).store(1, std::memory_order_release); }

void Gate::drain() noexcept {
  release();
  if (api_.stream_synchronize(stream_.get()) != cudaSuccess) static_cast<void>(api_.get_last_error());
}

Gates::Use::Use(Gate& gate, std::mutex& mutex, std::atomic<std::thread::id>& user)
    : gate_(&gate), lock_(mutex, std::try_to_lock) {
  if (!lock_.owns_lock()) {
    if (user.load() == std::this_thread::get_id())
      throw Error("this thread has a held run in flight: wait for it before it holds or records another");
    lock_.lock();
  }
  user.store(std::this_thread::get_id());
}

Gates::Use Gates::take(int gpu) {
  One* one = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto& found = gates_[gpu];
    if (found == nullptr) found = std::make_unique<One>(api_);
    one = found.get();
  }
  return {one->gate, one->mutex, one->user};
}

bool Gate::timed_out() const noexcept {
  return std::atomic_ref(flags_->timed_out).load(std::memory_order_acquire) != 0;
}

}  // namespace shiplap
