#include "tests/device/cuda/faults.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/device/cuda/fake_api.hpp"

namespace shiplap::testing {
namespace {

template <auto Member>
struct Listed : Function {};

constexpr cudaError_t usual = cudaErrorLaunchFailure;
constexpr cudaError_t no_memory = cudaErrorMemoryAllocation;
constexpr bool gives_back = true;

constexpr std::tuple table{
    Listed<&Api::get_device_count>{"cudaGetDeviceCount"},
    Listed<&Api::set_device>{"cudaSetDevice"},
    Listed<&Api::current_context>{"cuCtxGetCurrent"},
    Listed<&Api::set_context>{"cuCtxSetCurrent"},
    Listed<&Api::select_gpu_of>{"cuStreamGetCtx"},
    Listed<&Api::pinned_range>{"cuPointerGetAttribute"},
    Listed<&Api::keep_with_graph>{"cudaGraphRetainUserObject"},
    Listed<&Api::get_device_properties>{"cudaGetDeviceProperties"},
    Listed<&Api::device_get_attribute>{"cudaDeviceGetAttribute"},
    Listed<&Api::device_get_pci_bus_id>{"cudaDeviceGetPCIBusId"},
    Listed<&Api::driver_get_version>{"cudaDriverGetVersion"},
    Listed<&Api::runtime_get_version>{"cudaRuntimeGetVersion"},
    Listed<&Api::device_can_access_peer>{"cudaDeviceCanAccessPeer"},
    Listed<&Api::device_enable_peer_access>{"cudaDeviceEnablePeerAccess", no_memory},
    Listed<&Api::device_disable_peer_access>{"cudaDeviceDisablePeerAccess"},
    Listed<&Api::mem_get_info>{"cudaMemGetInfo"},
    Listed<&Api::malloc_device>{"cudaMalloc", no_memory},
    Listed<&Api::free_device>{"cudaFree", usual, gives_back},
    Listed<&Api::malloc_managed>{"cudaMallocManaged", no_memory},
    Listed<&Api::mem_prefetch_async>{"cudaMemPrefetchAsync"},
    Listed<&Api::mem_advise>{"cudaMemAdvise"},
    Listed<&Api::mem_range_get_attribute>{"cudaMemRangeGetAttribute"},
    Listed<&Api::host_alloc>{"cudaHostAlloc", no_memory},
    Listed<&Api::free_host>{"cudaFreeHost", usual, gives_back},
    Listed<&Api::host_register>{"cudaHostRegister", no_memory},
    Listed<&Api::host_unregister>{"cudaHostUnregister", usual, gives_back},
    Listed<&Api::host_get_device_pointer>{"cudaHostGetDevicePointer"},
    Listed<&Api::pointer_get_attributes>{"cudaPointerGetAttributes"},
    Listed<&Api::memcpy_async>{"cudaMemcpyAsync"},
    Listed<&Api::memcpy_batch_async>{"cudaMemcpyBatchAsync"},
    Listed<&Api::memcpy_2d_async>{"cudaMemcpy2DAsync"},
    Listed<&Api::memset_async>{"cudaMemsetAsync"},
    Listed<&Api::stream_create_with_flags>{"cudaStreamCreateWithFlags", no_memory},
    Listed<&Api::stream_create_with_priority>{"cudaStreamCreateWithPriority", no_memory},
    Listed<&Api::device_get_stream_priority_range>{"cudaDeviceGetStreamPriorityRange"},
    Listed<&Api::stream_destroy>{"cudaStreamDestroy", usual, gives_back},
    Listed<&Api::stream_query>{"cudaStreamQuery"},
    Listed<&Api::stream_synchronize>{"cudaStreamSynchronize"},
    Listed<&Api::stream_wait_event>{"cudaStreamWaitEvent"},
    Listed<&Api::launch_host_func>{"cudaLaunchHostFunc"},
    Listed<&Api::stream_begin_capture>{"cudaStreamBeginCapture"},
    Listed<&Api::stream_is_capturing>{"cudaStreamIsCapturing"},
    Listed<&Api::stream_end_capture>{"cudaStreamEndCapture"},
    Listed<&Api::graph_instantiate>{"cudaGraphInstantiateWithFlags", no_memory},
    Listed<&Api::graph_upload>{"cudaGraphUpload"},
    Listed<&Api::graph_get_nodes>{"cudaGraphGetNodes"},
    Listed<&Api::graph_node_get_type>{"cudaGraphNodeGetType"},
    Listed<&Api::graph_kernel_node_get_params>{"cudaGraphKernelNodeGetParams"},
    Listed<&Api::graph_launch>{"cudaGraphLaunch"},
    Listed<&Api::graph_exec_destroy>{"cudaGraphExecDestroy", usual, gives_back},
    Listed<&Api::graph_destroy>{"cudaGraphDestroy", usual, gives_back},
    Listed<&Api::event_create_with_flags>{"cudaEventCreateWithFlags", no_memory},
    Listed<&Api::event_destroy>{"cudaEventDestroy", usual, gives_back},
    Listed<&Api::event_record>{"cudaEventRecord"},
    Listed<&Api::event_query>{"cudaEventQuery"},
    Listed<&Api::event_synchronize>{"cudaEventSynchronize"},
    Listed<&Api::event_elapsed_time>{"cudaEventElapsedTime"},
    Listed<&Api::launch_kernel>{"cudaLaunchKernel"},
    Listed<&Api::func_get_attributes>{"cudaFuncGetAttributes"},
    Listed<&Api::occupancy_max_active_blocks>{"cudaOccupancyMaxActiveBlocksPerMultiprocessor"},
    Listed<&Api::get_last_error>{"cudaGetLastError"},
    Listed<&Api::peek_at_last_error>{"cudaPeekAtLastError"},
    Listed<&Api::get_error_name>{"cudaGetErrorName"},
    Listed<&Api::get_error_string>{"cudaGetErrorString"},
};
constexpr std::size_t table_size = std::tuple_size_v<decltype(table)>;
static_assert(table_size == sizeof(Api) / sizeof(void (*)()), "a member of Api is not listed here");

Api below;                          // what a call that does not fail goes to
std::recursive_mutex faults_guard;  // agents of a schedule call from threads of their own

/// A handle of the advice that the call takes back: the second byte of the range, because the first one is that of its
/// memory. Null where the call gives advice.
const void* no_longer_advised(const void* data, std::size_t, cudaMemoryAdvise advice, int) {
  const bool gives = advice == cudaMemAdviseSetReadMostly || advice == cudaMemAdviseSetPreferredLocation ||
                     advice == cudaMemAdviseSetAccessedBy;
  return gives ? nullptr : static_cast<const std::byte*>(data) + 1;
}

template <std::size_t Index, auto Member>
struct Faulty;
template <std::size_t Index, class R, class... Arguments, R (*Api::*Member)(Arguments...)>
struct Faulty<Index, Member> {
  static R call(Arguments... arguments) {
    const std::lock_guard lock(faults_guard);
    [[maybe_unused]] const void* handle = nullptr;
    if constexpr (std::get<Index>(table).gives_back) handle = (..., arguments);
    if constexpr (std::get<Index>(table).name == "cudaMemAdvise") handle = no_longer_advised(arguments...);
    const cudaError_t error = faults().begin(Index, handle);
    if constexpr (std::is_same_v<R, cudaError_t>)
      if (error != cudaSuccess) {
        // Errors of the driver's calls are not the runtime's last ones.
        if (functions()[Index].name.starts_with("cuda")) FakeCuda::last_error = error;
        return error;
      }
    const R result = (below.*Member)(arguments...);
    if (handle != nullptr) faults().given_back(handle);
    return result;
  }
};

template <std::size_t Index, auto Member>
void put_in_front(Api& api, const Listed<Member>&) {
  api.*Member = Faulty<Index, Member>::call;
}

}  // namespace

std::span<const Function> functions() {
  static constexpr std::array<Function, table_size> all =
      std::apply([](const auto&... listed) { return std::array<Function, table_size>{listed...}; }, table);
  return all;
}

Faults& faults() {
  static Faults state;
  return state;
}

void Faults::none() { once_before_ = lost_before_ = never; }

void Faults::fail_once(std::size_t function, int before) {
  function_ = function;
  once_before_ = before;
  once_seen_ = 0;
}

void Faults::fail_once(std::string_view name, int before) {
  const auto found = std::ranges::find(functions(), name, &Function::name);
  fail_once(static_cast<std::size_t>(found - functions().begin()), before);
}

void Faults::lose_device(int before) { lost_before_ = before; }

cudaError_t Faults::begin(std::size_t function, const void* gives_back) {
  ++counts_[function];
  const int all_before = all_seen_++;
  const bool once = once_before_ != never && function == function_ && once_seen_++ == once_before_;
  const bool lost = lost_before_ != never && all_before >= lost_before_;
  if (!once && !lost) return cudaSuccess;
  if (first_.empty()) first_ = functions()[function].name;
  if (gives_back != nullptr && std::ranges::find(kept_, gives_back) == kept_.end()) kept_.push_back(gives_back);
  return lost ? cudaErrorLaunchFailure : functions()[function].failure;
}

Api faulty_api() {
  below = fake_api();
  faults() = {};
  faults().counts_.assign(table_size, 0);
  Api api = below;
  [&]<std::size_t... Index>(std::index_sequence<Index...>) { (put_in_front<Index>(api, std::get<Index>(table)), ...); }
  (std::make_index_sequence<table_size>());
  return api;
}

}  // namespace shiplap::testing
