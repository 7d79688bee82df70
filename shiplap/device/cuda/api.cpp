#include "shiplap/device/cuda/api.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <type_traits>

namespace shiplap {
namespace {

/// Functions of the driver library, which the runtime loads too. All are null without a driver.
struct Driver {
  decltype(&cuInit) init = nullptr;
  decltype(&cuDeviceGet) device = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) retain_primary = nullptr;
  decltype(&cuCtxGetCurrent) current = nullptr;
  decltype(&cuCtxSetCurrent) set_current = nullptr;
  decltype(&cuStreamGetCtx) context_of_stream = nullptr;
  decltype(&cuPointerGetAttribute) pointer_attribute = nullptr;
};

const Driver& driver() {
  static const Driver loaded = [] {
    Driver d;
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return d;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    find(d.init, "cuInit");
    find(d.device, "cuDeviceGet");
    find(d.retain_primary, "cuDevicePrimaryCtxRetain");
    find(d.current, "cuCtxGetCurrent");
    find(d.set_current, "cuCtxSetCurrent");
    find(d.context_of_stream, "cuStreamGetCtx");
    find(d.pointer_attribute, "cuPointerGetAttribute");
    const bool is_driver = d.init && d.device && d.retain_primary && d.current && d.set_current &&
                           d.context_of_stream && d.pointer_attribute;
    return is_driver ? d : Driver{};
  }();
  return loaded;
}

/// The numbers of the driver's errors are those of the runtime.
cudaError_t as_runtime_error(CUresult result) { return static_cast<cudaError_t>(result); }

/// Makes the primary context of a GPU current. The process retains it at first use and keeps it, as the runtime does.
CUresult select_primary(int gpu, std::atomic<CUcontext>& kept) {
  if (CUcontext context = kept.load(); context != nullptr && driver().set_current(context) == CUDA_SUCCESS)
    return CUDA_SUCCESS;
  CUdevice device{};
  CUcontext context = nullptr;
  CUresult result = driver().init(0);
  if (result == CUDA_SUCCESS) result = driver().device(&device, gpu);
  if (result == CUDA_SUCCESS) result = driver().retain_primary(&context, device);
  if (result == CUDA_SUCCESS) result = driver().set_current(context);
  if (result == CUDA_SUCCESS) kept.store(context);
  return result;
}

}  // namespace

cudaError_t select_gpu(int gpu) {
  constexpr std::size_t most_gpus = 128;
  static std::array<std::atomic<CUcontext>, most_gpus> retained{};
  if (driver().init == nullptr) return cudaErrorInsufficientDriver;
  const auto number = static_cast<std::size_t>(gpu);
  return number < most_gpus ? as_runtime_error(select_primary(gpu, retained[number])) : cudaErrorInvalidDevice;
}

cudaError_t current_context(void** context) {
  if (driver().init == nullptr) return cudaErrorInsufficientDriver;
  CUcontext current = nullptr;
  const CUresult result = driver().current(&current);
  *context = current;
  // Before the first call of CUDA there is no context.
  return result == CUDA_ERROR_NOT_INITIALIZED ? cudaSuccess : as_runtime_error(result);
}

cudaError_t set_context(void* context) {
  if (driver().init == nullptr) return cudaErrorInsufficientDriver;
  return as_runtime_error(driver().set_current(static_cast<CUcontext>(context)));
}

cudaError_t select_gpu_of(cudaStream_t stream) {
  if (driver().init == nullptr) return cudaErrorInsufficientDriver;
  CUcontext context = nullptr;
  CUresult result = driver().context_of_stream(stream, &context);
  if (result == CUDA_SUCCESS) result = driver().set_current(context);
  return as_runtime_error(result);
}

cudaError_t pinned_range(void** begin, std::size_t* size, const void* data) {
  if (driver().init == nullptr) return cudaErrorInsufficientDriver;
  const auto address = reinterpret_cast<CUdeviceptr>(data);
  CUdeviceptr first = 0;
  CUresult result = driver().pointer_attribute(&first, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address);
  if (result == CUDA_SUCCESS) result = driver().pointer_attribute(size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address);
  *begin = reinterpret_cast<void*>(first);
  return as_runtime_error(result);
}

#if CUDART_VERSION >= 13000
namespace {

cudaMemLocation location_of(int device) {
  return device == cudaCpuDeviceId ? cudaMemLocation{cudaMemLocationTypeHost, 0}
                                   : cudaMemLocation{cudaMemLocationTypeDevice, device};
}

}  // namespace
#endif

cudaError_t advise_range(const void* data, std::size_t bytes, cudaMemoryAdvise advice, int location) {
#if CUDART_VERSION >= 13000
  return cudaMemAdvise(data, bytes, advice, location_of(location));
#else
  return cudaMemAdvise(data, bytes, advice, location);
#endif
}

cudaError_t prefetch_to(const void* data, std::size_t bytes, int destination, cudaStream_t stream) {
#if CUDART_VERSION >= 13000
  return cudaMemPrefetchAsync(data, bytes, location_of(destination), 0, stream);
#else
  return cudaMemPrefetchAsync(data, bytes, destination, stream);
#endif
}

cudaError_t copy_batch(void* const* to, const void* const* from, const std::size_t* bytes, std::size_t count,
                       cudaStream_t stream) {
#if CUDART_VERSION >= 12080
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first_of_attributes = 0;
#if CUDART_VERSION >= 13000
  return cudaMemcpyBatchAsync(to, from, bytes, count, &attributes, &first_of_attributes, 1, stream);
#else
  // Before CUDA 13 the function takes the arguments without const and has a further one, the number of the copy that
  // failed.
  std::size_t failed = 0;
  return cudaMemcpyBatchAsync(const_cast<void**>(to), const_cast<void**>(from), const_cast<std::size_t*>(bytes), count,
                              &attributes, &first_of_attributes, 1, &failed, stream);
#endif
#else
  static_cast<void>(to), static_cast<void>(from), static_cast<void>(bytes), static_cast<void>(count);
  static_cast<void>(stream);
  return cudaErrorNotSupported;
#endif
}

cudaError_t keep_with_graph(cudaStream_t stream, void* data, cudaHostFn_t destroy) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
  cudaError_t error = cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph);
#else
  cudaError_t error = cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph);
#endif
  if (error != cudaSuccess) return error;
  if (status != cudaStreamCaptureStatusActive) return cudaErrorIllegalState;
  cudaUserObject_t object = nullptr;
  error = cudaUserObjectCreate(&object, data, destroy, 1, cudaUserObjectNoDestructorSync);
  if (error == cudaSuccess) error = cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
  return error;
}

const Api& real_api() {
  static const Api api;
  return api;
}

}  // namespace shiplap
