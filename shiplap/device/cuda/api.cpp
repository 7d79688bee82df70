#include "shiplap/device/cuda/api.hpp"

#include <cstdlib>

namespace shiplap {

cudaError_t prefetch_to(const void* data, std::size_t bytes, int destination, cudaStream_t stream) {
#if CUDART_VERSION >= 13000
  const cudaMemLocation location = destination == cudaCpuDeviceId
                                       ? cudaMemLocation{cudaMemLocationTypeHost, 0}
                                       : cudaMemLocation{cudaMemLocationTypeDevice, destination};
  return cudaMemPrefetchAsync(data, bytes, location, 0, stream);
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

const Api& real_api() {
  static const Api api = [] {
    constexpr int keep_what_the_user_set = 0;
    setenv("CUDA_MODULE_LOADING", "EAGER", keep_what_the_user_set);
    return Api{};
  }();
  return api;
}

}  // namespace shiplap
