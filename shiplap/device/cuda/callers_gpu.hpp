// The caller's current GPU, which every function of the device leaves as it was.
#pragma once

#include "shiplap/device/cuda/api.hpp"

namespace shiplap {

/// Notes the calling thread's CUDA context and makes it current again at the end of the scope. A thread without one has
/// none afterwards: selecting GPU 0 for it, CUDA's default, would create a context there.
class CallersGpu {
 public:
  explicit CallersGpu(const Api& api) : api_(api), is_known_(api.current_context(&context_) == cudaSuccess) {}
  ~CallersGpu() {
    if (is_known_) static_cast<void>(api_.set_context(context_));
  }
  CallersGpu(const CallersGpu&) = delete;
  CallersGpu& operator=(const CallersGpu&) = delete;

 private:
  const Api& api_;
  void* context_ = nullptr;
  bool is_known_;
};

}  // namespace shiplap
