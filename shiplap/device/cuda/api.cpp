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

const Api& real_api() {
  static const Api api = [] {
    constexpr int keep_what_the_user_set = 0;
    setenv("CUDA_MODULE_LOADING", "EAGER", keep_what_the_user_set);
    return Api{};
  }();
  return api;
}

}  // namespace shiplap
