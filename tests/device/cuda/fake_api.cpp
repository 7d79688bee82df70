#include "tests/device/cuda/fake_api.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "shiplap/device/cuda/device_pattern.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/device/cuda/probe_kernels.hpp"
#include "shiplap/device/pattern.hpp"

namespace shiplap::testing {
namespace {

struct Block {
  cudaMemoryType type = cudaMemoryTypeUnregistered;
  int device = 0;
  bool registered = false;  ///< not the fake's own
  std::size_t size = 0;
};
std::map<const void*, Block> allocated;
std::map<const void*, float> recorded;
std::map<const void*, int> device_of;  ///< of a stream or event
std::set<std::pair<int, int>> peers;
constexpr int none_selected = -1;
thread_local int selected = none_selected;
/// Without a context the runtime takes GPU 0.
int current_gpu() { return std::max(0, selected); }
/// The GPU of a stream. The default stream is that of the current GPU.
int gpu_of_stream(const void* stream) { return stream == nullptr ? current_gpu() : device_of[stream]; }
std::uintptr_t next_handle = 0;
float clock_ms = 0;
const volatile std::uint32_t* gate = nullptr;
std::recursive_mutex guard;  // agents of a schedule call from threads of their own

/// What is being captured: every call that puts something into a stream has a number, and a stream or event the numbers
/// of what comes before it.
struct Capture {
  using Numbers = std::set<int>;
  const void* origin = nullptr;  ///< null: nothing is captured
  int calls = 0;
  std::map<const void*, Numbers> streams;
  std::map<const void*, Numbers> events;
  std::size_t kernels = 0;
};
Capture capture;
/// What lives as long as a graph or what was made of it: its actions, and functions that are called at its end.
struct Captured {
  std::vector<std::function<void()>> actions;
  bool has_host_nodes = false;
  std::vector<std::pair<cudaHostFn_t, void*>> kept;
  ~Captured() {
    for (const auto& [function, data] : kept) function(data);
  }
};
std::shared_ptr<Captured> being_captured;
std::map<const void*, std::shared_ptr<Captured>> of_graph;
std::set<const void*> graphs;
std::map<const void*, std::size_t> kernels_of_graph;

/// What was allocated or registered and contains the address.
std::map<const void*, Block>::iterator block_around(const void* data) {
  auto found = allocated.upper_bound(data);
  if (found == allocated.begin()) return allocated.end();
  --found;
  const auto offset = static_cast<const std::byte*>(data) - static_cast<const std::byte*>(found->first);
  return static_cast<std::size_t>(offset) < found->second.size ? found : allocated.end();
}
bool overlaps_registered(const void* data, std::size_t size) {
  const auto* const begin = static_cast<const std::byte*>(data);
  return std::ranges::any_of(allocated, [&](const auto& one) {
    const auto* const first = static_cast<const std::byte*>(one.first);
    return one.second.type == cudaMemoryTypeHost && first < begin + size && begin < first + one.second.size;
  });
}

bool is_captured(const void* stream) { return capture.streams.contains(stream); }
/// A launch of the graph does the action again.
void note_captured(const void* stream, std::function<void()> action = {}) {
  if (!is_captured(stream)) return;
  capture.streams[stream].insert(capture.calls++);
  if (action) being_captured->actions.push_back(std::move(action));
}

/// Calls that CUDA answers without a context. Every other one makes GPU 0 current in a thread that has none.
bool needs_context(std::string_view name) {
  static const std::set<std::string_view> without{
      "set_device",           "get_device_count",       "get_device_properties",
      "device_get_attribute", "device_can_access_peer", "device_get_pci_bus_id"};
  return !without.contains(name);
}

/// What every call that can fail begins with.
cudaError_t call(const char* name, const void* stream = nullptr, const void* event = nullptr) {
  const std::lock_guard lock(guard);
  FakeCuda& f = fake_cuda();
  f.calls.push_back({name, stream, event, selected});
  if (selected == none_selected && needs_context(name)) {
    f.made_contexts.push_back(name);
    selected = 0;
  }
  const bool counts = f.fail_name.empty() || f.fail_name == name;
  if (f.fail_at < 0 || !counts || f.fail_at-- > 0) return cudaSuccess;
  f.failed_call = name;
  FakeCuda::last_error = f.failure;
  return f.failure;
}

template <class Handle>
cudaError_t make(const char* name, Handle* handle, int& live) {
  if (const cudaError_t error = call(name); error != cudaSuccess) return error;
  const std::lock_guard lock(guard);
  *handle = reinterpret_cast<Handle>(0x1000 + 16 * ++next_handle);
  device_of[*handle] = current_gpu();
  ++live;
  return cudaSuccess;
}

cudaError_t allocate(const char* name, void** data, std::size_t size, cudaMemoryType type, int& live) {
  const std::lock_guard lock(guard);
  if (const cudaError_t error = call(name); error != cudaSuccess) return error;
  *data = std::aligned_alloc(256, (size + 255) / 256 * 256);
  allocated[*data] = {.type = type, .device = current_gpu(), .size = size};
  ++live;
  return cudaSuccess;
}

cudaError_t release(void* data, int& live) {
  const std::lock_guard lock(guard);
  if (allocated.erase(data) == 0) return cudaErrorInvalidValue;
  if (data == const_cast<const std::uint32_t*>(gate)) gate = nullptr;
  std::free(data);
  --live;
  return cudaSuccess;
}

cudaError_t refuse(cudaError_t error) { return FakeCuda::last_error = error; }

/// What a kernel does to memory, as its arguments say.
void perform(const void* kernel, void** arguments) {
  const auto number = [&](int i) { return *static_cast<const std::uint64_t*>(arguments[i]); };
  const auto bytes = [&](int i) { return *static_cast<std::byte**>(arguments[i]); };
  if (kernel == gate_kernel()) gate = *static_cast<const volatile std::uint32_t**>(arguments[0]);
  if (kernel == fill_pattern_kernel()) fill_pattern({bytes(0), number(1)}, number(2));
  if (kernel == compare_pattern_kernel()) {
    const std::uint64_t found = count_mismatches({bytes(0), number(1)}, number(2), Bytes{8 * number(3)});
    std::memcpy(bytes(4), &found, sizeof(found));
  }
  for (const unsigned unit : {4u, 8u, 16u})
    if (kernel == map_kernel(unit)) std::memcpy(bytes(1), bytes(0), number(2) * unit);
  if (kernel == strided_kernel() || kernel == random_kernel()) std::memcpy(bytes(1), bytes(0), number(2) * 16);
}

void host_waits() {
  const std::lock_guard lock(guard);
  fake_cuda().gate_open_at_wait.push_back(gate == nullptr || *gate != 0);
}

void fake_queries(Api& api) {
  api.get_device_count = [](int* count) {
    *count = fake_cuda().devices;
    return call("get_device_count");
  };
  api.set_device = [](int number) {
    const cudaError_t error = call("set_device");
    if (error == cudaSuccess) selected = number;
    return error;
  };
  api.current_context = [](void** context) {
    *context = selected == none_selected ? nullptr : reinterpret_cast<void*>(std::intptr_t{selected} + 1);
    return cudaSuccess;
  };
  api.set_context = [](void* context) {
    selected = static_cast<int>(reinterpret_cast<std::intptr_t>(context)) - 1;
    return cudaSuccess;
  };
  api.select_gpu_of = [](cudaStream_t stream) {
    const cudaError_t error = call("select_gpu_of", stream);
    if (error == cudaSuccess && stream != nullptr) selected = device_of.at(stream);
    return error;
  };
  api.get_device_properties = [](cudaDeviceProp* properties, int) {
    std::strcpy(properties->name, "fake GPU");
    return call("get_device_properties");
  };
  api.device_get_attribute = [](int* value, cudaDeviceAttr, int) {
    *value = 2;
    return call("device_get_attribute");
  };
  api.device_can_access_peer = [](int* can, int, int) {
    *can = 1;
    return call("device_can_access_peer");
  };
  api.device_enable_peer_access = [](int to, unsigned) {
    if (const cudaError_t error = call("device_enable_peer_access"); error != cudaSuccess) return error;
    if (!peers.insert({current_gpu(), to}).second) return refuse(cudaErrorPeerAccessAlreadyEnabled);
    ++fake_cuda().live_peers;
    return cudaSuccess;
  };
  api.device_disable_peer_access = [](int to) {
    if (const cudaError_t error = call("device_disable_peer_access"); error != cudaSuccess) return error;
    if (peers.erase({current_gpu(), to}) == 0) return refuse(cudaErrorPeerAccessNotEnabled);
    --fake_cuda().live_peers;
    return cudaSuccess;
  };
  api.device_get_pci_bus_id = [](char* text, int, int) {
    std::strcpy(text, "0000:FF:00.0");
    return call("device_get_pci_bus_id");
  };
  api.driver_get_version = [](int* version) {
    *version = 13000;
    return cudaSuccess;
  };
  api.runtime_get_version = [](int* version) {
    *version = 13000;
    return cudaSuccess;
  };
  api.mem_get_info = [](std::size_t* free, std::size_t* total) {
    *free = fake_cuda().free_memory;
    *total = fake_cuda().total_memory;
    return call("mem_get_info");
  };
  api.func_get_attributes = [](cudaFuncAttributes*, const void*) { return call("func_get_attributes"); };
  api.occupancy_max_active_blocks = [](int* blocks, const void*, int, std::size_t) {
    *blocks = 2;
    return call("occupancy_max_active_blocks");
  };
  api.get_last_error = [] { return std::exchange(FakeCuda::last_error, cudaSuccess); };
  api.peek_at_last_error = [] { return fake_cuda().last_error; };
}

void fake_memory(Api& api) {
  api.malloc_device = [](void** data, std::size_t size) {
    return allocate("malloc_device", data, size, cudaMemoryTypeDevice, fake_cuda().live_device_memory);
  };
  api.malloc_managed = [](void** data, std::size_t size, unsigned) {
    return allocate("malloc_managed", data, size, cudaMemoryTypeManaged, fake_cuda().live_device_memory);
  };
  api.mem_prefetch_async = [](const void*, std::size_t, int, cudaStream_t stream) {
    return call("mem_prefetch_async", stream);
  };
  api.mem_advise = [](const void* data, std::size_t, cudaMemoryAdvise advice, int location) {
    const std::lock_guard lock(guard);
    if (const cudaError_t error = call("mem_advise"); error != cudaSuccess) return error;
    const auto at = static_cast<const std::byte*>(data);
    auto& advised = fake_cuda().advised;
    if (advice == cudaMemAdviseSetPreferredLocation) advised[at].preferred = location;
    if (advice == cudaMemAdviseUnsetPreferredLocation) advised[at].preferred = cudaInvalidDeviceId;
    if (advice == cudaMemAdviseSetReadMostly || advice == cudaMemAdviseUnsetReadMostly)
      advised[at].read_mostly = advice == cudaMemAdviseSetReadMostly;
    if (advice == cudaMemAdviseSetAccessedBy) advised[at].accessed_by.insert(location);
    if (advice == cudaMemAdviseUnsetAccessedBy) advised[at].accessed_by.erase(location);
    if (advised[at] == FakeCuda::Advised{}) advised.erase(at);
    return cudaSuccess;
  };
  api.mem_range_get_attribute = [](void* answer, std::size_t size, cudaMemRangeAttribute attribute, const void* data,
                                   std::size_t) {
    const std::lock_guard lock(guard);
    if (const cudaError_t error = call("mem_range_get_attribute"); error != cudaSuccess) return error;
    const auto& all = fake_cuda().advised;
    const auto found = all.find(static_cast<const std::byte*>(data));
    const FakeCuda::Advised advised = found == all.end() ? FakeCuda::Advised{} : found->second;
    auto* const numbers = static_cast<int*>(answer);
    if (attribute == cudaMemRangeAttributeReadMostly) *numbers = advised.read_mostly ? 1 : 0;
    if (attribute == cudaMemRangeAttributePreferredLocation) *numbers = advised.preferred;
    if (attribute == cudaMemRangeAttributeAccessedBy) {
      std::fill_n(numbers, size / sizeof(int), cudaInvalidDeviceId);
      std::ranges::copy(advised.accessed_by, numbers);
    }
    return cudaSuccess;
  };
  api.free_device = [](void* data) { return release(data, fake_cuda().live_device_memory); };
  api.host_alloc = [](void** data, std::size_t size, unsigned) {
    return allocate("host_alloc", data, size, cudaMemoryTypeHost, fake_cuda().live_pinned_memory);
  };
  api.free_host = [](void* data) { return release(data, fake_cuda().live_pinned_memory); };
  api.host_register = [](void* data, std::size_t size, unsigned) {
    const std::lock_guard lock(guard);
    const cudaError_t error = call("host_register");
    if (error != cudaSuccess) return error;
    if (overlaps_registered(data, size)) return refuse(cudaErrorHostMemoryAlreadyRegistered);
    allocated[data] = {.type = cudaMemoryTypeHost, .registered = true, .size = size};
    ++fake_cuda().live_pinned_memory;
    return error;
  };
  api.host_unregister = [](void* data) {
    const std::lock_guard lock(guard);
    if (allocated.erase(data) == 0) return cudaErrorInvalidValue;
    static_cast<void>(*static_cast<volatile char*>(data));  // must still be mapped
    --fake_cuda().live_pinned_memory;
    return cudaSuccess;
  };
  api.host_get_device_pointer = [](void** device, void* host, unsigned) {
    *device = host;
    return call("host_get_device_pointer");
  };
  api.pointer_get_attributes = [](cudaPointerAttributes* attributes, const void* data) {
    const std::lock_guard lock(guard);
    const auto found = block_around(data);
    const Block block = found == allocated.end() ? Block{} : found->second;
    attributes->type = block.type;
    attributes->device = block.device;
    return call("pointer_get_attributes");
  };
  api.pinned_range = [](void** begin, std::size_t* size, const void* data) {
    const std::lock_guard lock(guard);
    const auto found = block_around(data);
    if (found == allocated.end()) return refuse(cudaErrorInvalidValue);
    *begin = const_cast<void*>(found->first);
    *size = found->second.size;
    return call("pinned_range");
  };
  api.memcpy_async = [](void* to, const void* from, std::size_t size, cudaMemcpyKind, cudaStream_t stream) {
    const cudaError_t error = call("memcpy_async", stream);
    if (error != cudaSuccess) return error;
    note_captured(stream, [to, from, size] { std::memcpy(to, from, size); });
    std::memcpy(to, from, size);
    return error;
  };
  api.memcpy_batch_async = [](void* const* to, const void* const* from, const std::size_t* sizes, std::size_t count,
                              cudaStream_t stream) {
    const std::lock_guard lock(guard);
    if (stream == nullptr) return refuse(cudaErrorInvalidValue);
    if (is_captured(stream)) return refuse(cudaErrorStreamCaptureUnsupported);
    const cudaError_t error = call("memcpy_batch_async", stream);
    if (error != cudaSuccess) return error;
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to[i], from[i], sizes[i]);
    fake_cuda().batches.push_back(count);
    return error;
  };
  api.memcpy_2d_async = [](void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                           std::size_t height, cudaMemcpyKind, cudaStream_t stream) {
    const std::lock_guard lock(guard);
    const cudaError_t error = call("memcpy_2d_async", stream);
    if (error != cudaSuccess) return error;
    if (to_pitch < width || from_pitch < width) return refuse(cudaErrorInvalidPitchValue);
    note_captured(stream);
    for (std::size_t row = 0; row < height; ++row)
      std::memcpy(static_cast<std::byte*>(to) + row * to_pitch, static_cast<const std::byte*>(from) + row * from_pitch,
                  width);
    return error;
  };
  api.memset_async = [](void* data, int value, std::size_t size, cudaStream_t stream) {
    std::memset(data, value, size);
    return call("memset_async", stream);
  };
}

void fake_work(Api& api) {
  api.stream_create_with_flags = [](cudaStream_t* stream, unsigned) {
    return make("stream_create", stream, fake_cuda().live_streams);
  };
  api.stream_create_with_priority = [](cudaStream_t* stream, unsigned, int priority) {
    fake_cuda().priorities.push_back(priority);
    return make("stream_create_with_priority", stream, fake_cuda().live_streams);
  };
  api.device_get_stream_priority_range = [](int* lowest, int* highest) {
    *lowest = 0;
    *highest = FakeCuda::highest_priority;
    return call("device_get_stream_priority_range");
  };
  api.stream_destroy = [](cudaStream_t stream) {
    const std::lock_guard lock(guard);
    if (capture.origin == stream) capture = {};
    --fake_cuda().live_streams;
    return cudaSuccess;
  };
  api.stream_query = [](cudaStream_t stream) {
    const cudaError_t error = call("stream_query", stream);
    return error == cudaSuccess && FakeCuda::busy ? cudaErrorNotReady : error;
  };
  api.stream_synchronize = [](cudaStream_t stream) {
    if (is_captured(stream)) return refuse(cudaErrorStreamCaptureUnsupported);
    host_waits();
    return call("stream_synchronize", stream);
  };
  api.stream_wait_event = [](cudaStream_t stream, cudaEvent_t event, unsigned) {
    const cudaError_t error = call("stream_wait_event", stream, event);
    const auto before = capture.events.find(event);
    if (error != cudaSuccess || before == capture.events.end()) return error;
    capture.streams[stream].insert(before->second.begin(), before->second.end());
    note_captured(stream);
    return error;
  };
  api.launch_host_func = [](cudaStream_t stream, cudaHostFn_t function, void* data) {
    const std::lock_guard lock(guard);
    const cudaError_t error = call("launch_host_func", stream);
    if (error != cudaSuccess) return error;
    if (is_captured(stream)) {
      note_captured(stream, [function, data] { function(data); });
      being_captured->has_host_nodes = true;
    } else {
      std::thread(function, data).detach();  // it may wait for what comes later
    }
    return error;
  };
  api.event_create_with_flags = [](cudaEvent_t* event, unsigned) {
    return make("event_create", event, fake_cuda().live_events);
  };
  api.event_destroy = [](cudaEvent_t) {
    --fake_cuda().live_events;
    return cudaSuccess;
  };
  api.event_record = [](cudaEvent_t event, cudaStream_t stream) {
    const std::lock_guard lock(guard);
    if (device_of[event] != gpu_of_stream(stream)) return refuse(cudaErrorInvalidResourceHandle);
    recorded[event] = ++clock_ms;
    if (is_captured(stream)) capture.events[event] = capture.streams[stream];
    return call("event_record", stream, event);
  };
  api.event_query = [](cudaEvent_t event) {
    const cudaError_t error = call("event_query", nullptr, event);
    return error == cudaSuccess && FakeCuda::busy ? cudaErrorNotReady : error;
  };
  api.event_synchronize = [](cudaEvent_t event) {
    host_waits();
    return call("event_synchronize", nullptr, event);
  };
  api.event_elapsed_time = [](float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    *milliseconds = recorded.at(to) - recorded.at(from);
    return call("event_elapsed_time");
  };
  api.launch_kernel = [](const void* kernel, dim3, dim3, void** arguments, std::size_t, cudaStream_t stream) {
    const std::lock_guard lock(guard);
    if (gpu_of_stream(stream) != current_gpu()) return refuse(cudaErrorInvalidResourceHandle);
    const cudaError_t error = call("launch_kernel", stream);
    if (error == cudaSuccess && is_captured(stream)) ++capture.kernels;
    if (error == cudaSuccess) perform(kernel, arguments);
    return error;
  };
}

void fake_graphs(Api& api) {
  api.stream_begin_capture = [](cudaStream_t stream, cudaStreamCaptureMode) {
    const cudaError_t error = call("stream_begin_capture", stream);
    being_captured = std::make_shared<Captured>();
    if (error == cudaSuccess) capture = {.origin = stream, .streams = {{stream, {}}}, .events = {}, .kernels = 0};
    return error;
  };
  api.stream_is_capturing = [](cudaStream_t stream, cudaStreamCaptureStatus* status) {
    *status = is_captured(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return call("stream_is_capturing", stream);
  };
  api.keep_with_graph = [](cudaStream_t stream, void* data, cudaHostFn_t destroy) {
    const std::lock_guard lock(guard);
    if (!is_captured(stream)) return refuse(cudaErrorIllegalState);
    if (const cudaError_t error = call("keep_with_graph", stream); error != cudaSuccess) return error;
    being_captured->kept.emplace_back(destroy, data);
    return cudaSuccess;
  };
  api.stream_end_capture = [](cudaStream_t stream, cudaGraph_t* graph) -> cudaError_t {
    *graph = nullptr;
    const Capture ended = std::exchange(capture, {});
    if (const cudaError_t error = call("stream_end_capture", stream); error != cudaSuccess) return error;
    if (ended.origin != stream) return refuse(cudaErrorIllegalState);
    // Whatever went into another stream must have come back.
    if (ended.streams.at(stream).size() != static_cast<std::size_t>(ended.calls))
      return refuse(cudaErrorStreamCaptureUnjoined);
    fake_cuda().captured_streams.push_back(ended.streams.size());
    *graph = reinterpret_cast<cudaGraph_t>(0x1000 + 16 * ++next_handle);
    graphs.insert(*graph);
    of_graph[*graph] = std::exchange(being_captured, nullptr);
    kernels_of_graph[*graph] = ended.kernels;
    ++fake_cuda().live_graphs;
    return cudaSuccess;
  };
  // A graph without captured kernels has one all the same, which is enough to be asked for.
  api.graph_get_nodes = [](cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) -> cudaError_t {
    if (!graphs.contains(graph)) return refuse(cudaErrorInvalidValue);
    *count = std::max<std::size_t>(1, kernels_of_graph[graph]);
    if (nodes != nullptr) std::fill_n(nodes, *count, reinterpret_cast<cudaGraphNode_t>(graph));
    return cudaSuccess;
  };
  api.graph_node_get_type = [](cudaGraphNode_t, cudaGraphNodeType* type) -> cudaError_t {
    *type = cudaGraphNodeTypeKernel;
    return cudaSuccess;
  };
  api.graph_kernel_node_get_params = [](cudaGraphNode_t, cudaKernelNodeParams* kernel) -> cudaError_t {
    *kernel = {};
    kernel->gridDim = dim3(7);
    kernel->blockDim = dim3(128, 2);
    return cudaSuccess;
  };
  api.graph_instantiate = [](cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) -> cudaError_t {
    if (!graphs.contains(graph)) return refuse(cudaErrorInvalidValue);
    if (const cudaError_t error = make("graph_instantiate", made, fake_cuda().live_graphs); error != cudaSuccess)
      return error;
    graphs.insert(*made);
    of_graph[*made] = of_graph[graph];
    return cudaSuccess;
  };
  api.graph_upload = [](cudaGraphExec_t graph, cudaStream_t stream) {
    return graphs.contains(graph) ? call("graph_upload", stream) : refuse(cudaErrorInvalidValue);
  };
  api.graph_launch = [](cudaGraphExec_t graph, cudaStream_t stream) {
    if (!graphs.contains(graph)) return refuse(cudaErrorInvalidValue);
    const cudaError_t error = call("graph_launch", stream);
    if (error == cudaSuccess)
      for (const auto& action : of_graph[graph]->actions)
        if (of_graph[graph]->has_host_nodes) action();
    return error;
  };
  api.graph_exec_destroy = [](cudaGraphExec_t graph) {
    if (graphs.erase(graph) == 0) return refuse(cudaErrorInvalidValue);
    of_graph.erase(graph);
    --fake_cuda().live_graphs;
    return cudaSuccess;
  };
  api.graph_destroy = [](cudaGraph_t graph) {
    if (graphs.erase(graph) == 0) return refuse(cudaErrorInvalidValue);
    of_graph.erase(graph);
    --fake_cuda().live_graphs;
    return cudaSuccess;
  };
}

}  // namespace

thread_local cudaError_t FakeCuda::last_error = cudaSuccess;

std::size_t FakeCuda::count(const std::string& name) const {
  return static_cast<std::size_t>(
      std::count_if(calls.begin(), calls.end(), [&](const Call& c) { return c.name == name; }));
}

FakeCuda& fake_cuda() {
  static FakeCuda state;
  return state;
}

Api fake_api() {
  fake_cuda() = {};
  FakeCuda::busy = false;
  FakeCuda::last_error = cudaSuccess;
  for (const auto& [data, block] : allocated)
    if (!block.registered) std::free(const_cast<void*>(data));
  allocated.clear();
  device_of.clear();
  recorded.clear();
  peers.clear();
  selected = none_selected;
  clock_ms = 0;
  gate = nullptr;
  capture = {};
  graphs.clear();
  of_graph.clear();
  Api api;
  fake_queries(api);
  fake_memory(api);
  fake_work(api);
  fake_graphs(api);
  return api;
}

}  // namespace shiplap::testing
