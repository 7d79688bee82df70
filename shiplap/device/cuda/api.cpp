#include "shiplap/device/cuda/api.hpp"

#include <cstdlib>

namespace shiplap {

const Api& real_api() {
  static const Api api = [] {
    constexpr int keep_what_the_user_set = 0;
    setenv("CUDA_MODULE_LOADING", "EAGER", keep_what_the_user_set);
    return Api{};
  }();
  return api;
}

}  // namespace shiplap
