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

/// The context in which something was made. Threads that have no context release it there: a call without a context
/// would create one on GPU 0, whichever GPU the thing is on.
class OwnContext {
 public:
  OwnContext() = default;
  /// Notes the calling thread's context, that of the GPU that is selected.
  explicit OwnContext(const Api& api) : api_(&api) {
    if (api.current_context(&context_) != cudaSuccess) context_ = nullptr;
  }

  /// Until the end of its scope the calling thread has a context: its own, or else the noted one.
  class Scope {
   public:
    explicit Scope(const OwnContext& own) : api_(own.api_) {
      void* current = nullptr;
      entered_ = own.context_ != nullptr && api_->current_context(&current) == cudaSuccess && current == nullptr &&
                 api_->set_context(own.context_) == cudaSuccess;
    }
    ~Scope() {
      if (entered_) static_cast<void>(api_->set_context(nullptr));
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const Api* api_;
    bool entered_ = false;
  };

 private:
  const Api* api_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace shiplap
