// The CUDA runtime as a table of functions. All code in device/cuda calls through it, so that a test can make any call
// fail.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace shiplap {

/// Calls cudaMemPrefetchAsync in the form that fits the toolkit's version. `destination` is a device number or
/// cudaCpuDeviceId.
cudaError_t prefetch_to(const void* data, std::size_t bytes, int destination, cudaStream_t);

/// Calls cudaMemAdvise in the form that fits the toolkit's version. `location` is a device number or cudaCpuDeviceId.
cudaError_t advise_range(const void* data, std::size_t bytes, cudaMemoryAdvise, int location);

/// Calls cudaMemcpyBatchAsync in the form that fits the toolkit's version, for copies whose sources are read in stream
/// order. Returns cudaErrorNotSupported before CUDA 12.8.
cudaError_t copy_batch(void* const* to, const void* const* from, const std::size_t* bytes, std::size_t count,
                       cudaStream_t);

/// Makes the primary context of a GPU current for the calling thread. Unlike cudaSetDevice it leaves the runtime's own
/// note of the thread's GPU alone, so that set_context restores all of what the caller had.
cudaError_t select_gpu(int gpu);

/// Calls cuCtxGetCurrent: the calling thread's context, null without one.
cudaError_t current_context(void** context);

/// Calls cuCtxSetCurrent with what `current_context` gave.
cudaError_t set_context(void* context);

/// Makes the context of a stream current for the calling thread, that of the GPU that the stream was made on
/// (cuStreamGetCtx). The default stream is of the current context, which stays.
cudaError_t select_gpu_of(cudaStream_t stream);

/// The pinned range that contains an address of pinned memory (cuPointerGetAttribute).
cudaError_t pinned_range(void** begin, std::size_t* size, const void* data);

/// Calls `destroy` with the data when the graph that `stream` is being captured into, and what was made of it, is no
/// longer used (cudaGraphRetainUserObject).
cudaError_t keep_with_graph(cudaStream_t stream, void* data, cudaHostFn_t destroy);

/// Each member is the runtime function of the same name, except those declared above. A test copies the table and
/// replaces functions by ones that fail, count or delay. Callers keep a reference, so a table must outlive what was
/// made with it.
struct Api {
  cudaError_t (*get_device_count)(int*) = cudaGetDeviceCount;
  cudaError_t (*set_device)(int) = select_gpu;
  cudaError_t (*current_context)(void**) = shiplap::current_context;
  cudaError_t (*set_context)(void*) = shiplap::set_context;
  cudaError_t (*select_gpu_of)(cudaStream_t) = shiplap::select_gpu_of;
  cudaError_t (*get_device_properties)(cudaDeviceProp*, int) = cudaGetDeviceProperties;
  cudaError_t (*device_get_attribute)(int*, cudaDeviceAttr, int) = cudaDeviceGetAttribute;
  cudaError_t (*device_get_pci_bus_id)(char*, int, int) = cudaDeviceGetPCIBusId;
  cudaError_t (*driver_get_version)(int*) = cudaDriverGetVersion;
  cudaError_t (*runtime_get_version)(int*) = cudaRuntimeGetVersion;

  cudaError_t (*device_can_access_peer)(int*, int, int) = cudaDeviceCanAccessPeer;
  cudaError_t (*device_enable_peer_access)(int, unsigned) = cudaDeviceEnablePeerAccess;
  cudaError_t (*device_disable_peer_access)(int) = cudaDeviceDisablePeerAccess;

  cudaError_t (*mem_get_info)(std::size_t*, std::size_t*) = cudaMemGetInfo;
  cudaError_t (*malloc_device)(void**, std::size_t) = cudaMalloc;
  cudaError_t (*free_device)(void*) = cudaFree;
  cudaError_t (*malloc_managed)(void**, std::size_t, unsigned) = cudaMallocManaged;
  cudaError_t (*mem_prefetch_async)(const void*, std::size_t, int, cudaStream_t) = prefetch_to;
  cudaError_t (*mem_advise)(const void*, std::size_t, cudaMemoryAdvise, int) = advise_range;
  cudaError_t (*mem_range_get_attribute)(void*, std::size_t, cudaMemRangeAttribute, const void*,
                                         std::size_t) = cudaMemRangeGetAttribute;
  cudaError_t (*host_alloc)(void**, std::size_t, unsigned) = cudaHostAlloc;
  cudaError_t (*free_host)(void*) = cudaFreeHost;
  cudaError_t (*host_register)(void*, std::size_t, unsigned) = cudaHostRegister;
  cudaError_t (*host_unregister)(void*) = cudaHostUnregister;
  cudaError_t (*host_get_device_pointer)(void**, void*, unsigned) = cudaHostGetDevicePointer;
  cudaError_t (*pointer_get_attributes)(cudaPointerAttributes*, const void*) = cudaPointerGetAttributes;
  cudaError_t (*pinned_range)(void**, std::size_t*, const void*) = shiplap::pinned_range;
  cudaError_t (*memcpy_async)(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t) = cudaMemcpyAsync;
  cudaError_t (*memcpy_batch_async)(void* const*, const void* const*, const std::size_t*, std::size_t,
                                    cudaStream_t) = copy_batch;
  cudaError_t (*memcpy_2d_async)(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, cudaMemcpyKind,
                                 cudaStream_t) = cudaMemcpy2DAsync;
  cudaError_t (*memset_async)(void*, int, std::size_t, cudaStream_t) = cudaMemsetAsync;

  cudaError_t (*stream_create_with_flags)(cudaStream_t*, unsigned) = cudaStreamCreateWithFlags;
  cudaError_t (*stream_create_with_priority)(cudaStream_t*, unsigned, int) = cudaStreamCreateWithPriority;
  cudaError_t (*device_get_stream_priority_range)(int*, int*) = cudaDeviceGetStreamPriorityRange;
  cudaError_t (*stream_destroy)(cudaStream_t) = cudaStreamDestroy;
  cudaError_t (*stream_query)(cudaStream_t) = cudaStreamQuery;
  cudaError_t (*stream_synchronize)(cudaStream_t) = cudaStreamSynchronize;
  cudaError_t (*stream_wait_event)(cudaStream_t, cudaEvent_t, unsigned) = cudaStreamWaitEvent;

  cudaError_t (*launch_host_func)(cudaStream_t, cudaHostFn_t, void*) = cudaLaunchHostFunc;

  cudaError_t (*stream_begin_capture)(cudaStream_t, cudaStreamCaptureMode) = cudaStreamBeginCapture;
  cudaError_t (*stream_is_capturing)(cudaStream_t, cudaStreamCaptureStatus*) = cudaStreamIsCapturing;
  cudaError_t (*keep_with_graph)(cudaStream_t, void*, cudaHostFn_t) = shiplap::keep_with_graph;
  cudaError_t (*stream_end_capture)(cudaStream_t, cudaGraph_t*) = cudaStreamEndCapture;
  cudaError_t (*graph_instantiate)(cudaGraphExec_t*, cudaGraph_t, unsigned long long) = cudaGraphInstantiateWithFlags;
  cudaError_t (*graph_upload)(cudaGraphExec_t, cudaStream_t) = cudaGraphUpload;
  cudaError_t (*graph_get_nodes)(cudaGraph_t, cudaGraphNode_t*, std::size_t*) = cudaGraphGetNodes;
  cudaError_t (*graph_node_get_type)(cudaGraphNode_t, cudaGraphNodeType*) = cudaGraphNodeGetType;
  cudaError_t (*graph_kernel_node_get_params)(cudaGraphNode_t, cudaKernelNodeParams*) = cudaGraphKernelNodeGetParams;
  cudaError_t (*graph_launch)(cudaGraphExec_t, cudaStream_t) = cudaGraphLaunch;
  cudaError_t (*graph_exec_destroy)(cudaGraphExec_t) = cudaGraphExecDestroy;
  cudaError_t (*graph_destroy)(cudaGraph_t) = cudaGraphDestroy;

  cudaError_t (*event_create_with_flags)(cudaEvent_t*, unsigned) = cudaEventCreateWithFlags;
  cudaError_t (*event_destroy)(cudaEvent_t) = cudaEventDestroy;
  cudaError_t (*event_record)(cudaEvent_t, cudaStream_t) = cudaEventRecord;
  cudaError_t (*event_query)(cudaEvent_t) = cudaEventQuery;
  cudaError_t (*event_synchronize)(cudaEvent_t) = cudaEventSynchronize;
  cudaError_t (*event_elapsed_time)(float*, cudaEvent_t, cudaEvent_t) = cudaEventElapsedTime;

  cudaError_t (*launch_kernel)(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) = cudaLaunchKernel;
  cudaError_t (*func_get_attributes)(cudaFuncAttributes*, const void*) = cudaFuncGetAttributes;
  cudaError_t (*occupancy_max_active_blocks)(int*, const void*, int,
                                             std::size_t) = cudaOccupancyMaxActiveBlocksPerMultiprocessor;

  cudaError_t (*get_last_error)() = cudaGetLastError;
  cudaError_t (*peek_at_last_error)() = cudaPeekAtLastError;
  const char* (*get_error_name)(cudaError_t) = cudaGetErrorName;
  const char* (*get_error_string)(cudaError_t) = cudaGetErrorString;
};

/// The table of the real runtime.
const Api& real_api();

}  // namespace shiplap
