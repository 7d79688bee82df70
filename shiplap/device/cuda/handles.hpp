// CUDA streams, events, graphs and memory as std::unique_ptr. Their deleters never throw.
#pragma once

#include <memory>
#include <string_view>

#include "shiplap/core/units.hpp"
#include "shiplap/device/cuda/callers_gpu.hpp"
#include "shiplap/device/cuda/check.hpp"

namespace shiplap {

/// Releases a handle or memory through the table, in a thread without a context in the one that was current when this
/// object was made. A failure is cleared and ignored, because a destructor must not throw, and an earlier call has
/// reported the cause.
template <auto Api::*Function>
class Release {
 public:
  Release() = default;
  explicit Release(const Api& api) : api_(&api), own_(api) {}
  template <class T>
  void operator()(T* handle) const noexcept {
    const OwnContext::Scope scope(own_);
    if ((api_->*Function)(handle) != cudaSuccess) static_cast<void>(api_->get_last_error());
  }

 private:
  const Api* api_ = nullptr;
  OwnContext own_;
};

using StreamHandle = std::unique_ptr<CUstream_st, Release<&Api::stream_destroy>>;
using Event = std::unique_ptr<CUevent_st, Release<&Api::event_destroy>>;
using Graph = std::unique_ptr<CUgraph_st, Release<&Api::graph_destroy>>;
using ExecutableGraph = std::unique_ptr<CUgraphExec_st, Release<&Api::graph_exec_destroy>>;
using DeviceMemory = std::unique_ptr<std::byte, Release<&Api::free_device>>;
using PinnedMemory = std::unique_ptr<std::byte, Release<&Api::free_host>>;

/// A stream that does not wait for the legacy default stream.
inline StreamHandle make_stream(const Api& api, std::string_view context) {
  cudaStream_t stream = nullptr;
  check(api, api.stream_create_with_flags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", context);
  return {stream, StreamHandle::deleter_type(api)};
}

/// A stream whose kernels have the highest priority that the GPU knows. It does not wait for the legacy default stream.
inline StreamHandle make_urgent_stream(const Api& api, std::string_view context) {
  int lowest = 0;
  int highest = 0;
  check(api, api.device_get_stream_priority_range(&lowest, &highest), "cudaDeviceGetStreamPriorityRange", context);
  cudaStream_t stream = nullptr;
  check(api, api.stream_create_with_priority(&stream, cudaStreamNonBlocking, highest), "cudaStreamCreateWithPriority",
        context);
  return {stream, StreamHandle::deleter_type(api)};
}

/// An event that records the time.
inline Event make_timing_event(const Api& api, std::string_view context) {
  cudaEvent_t event = nullptr;
  check(api, api.event_create_with_flags(&event, cudaEventDefault), "cudaEventCreateWithFlags", context);
  return {event, Event::deleter_type(api)};
}

/// An event without timing, which is cheaper.
inline Event make_order_event(const Api& api, std::string_view context) {
  cudaEvent_t event = nullptr;
  check(api, api.event_create_with_flags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags", context);
  return {event, Event::deleter_type(api)};
}

inline DeviceMemory make_device_memory(const Api& api, Bytes size, std::string_view context) {
  void* data = nullptr;
  check(api, api.malloc_device(&data, size.count), "cudaMalloc", context);
  return {static_cast<std::byte*>(data), DeviceMemory::deleter_type(api)};
}

/// `flags` are those of cudaHostAlloc.
inline PinnedMemory make_pinned_memory(const Api& api, Bytes size, unsigned flags, std::string_view context) {
  void* data = nullptr;
  check(api, api.host_alloc(&data, size.count, flags), "cudaHostAlloc", context);
  return {static_cast<std::byte*>(data), PinnedMemory::deleter_type(api)};
}

}  // namespace shiplap
