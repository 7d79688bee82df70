#include "shiplap/device/cuda/stream_gap.hpp"

#include <atomic>
#include <utility>

#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/cuda/handles.hpp"

namespace shiplap {
namespace {

using Released = std::atomic<bool>;

/// The enqueued function owns `data`, because the stream may outlive the gap.
void CUDART_CB hold(void* data) {
  const std::unique_ptr<std::shared_ptr<Released>> released(static_cast<std::shared_ptr<Released>*>(data));
  (*released)->wait(false);
}

class CudaStreamGap final : public StreamGap {
 public:
  CudaStreamGap(const Api& api, cudaStream_t stream)
      : api_(api), before_(make_order_event(api, "in the caller's stream")) {
    check(api, api.event_record(before_.get(), stream), "cudaEventRecord", "in the caller's stream");
    auto held = std::make_unique<std::shared_ptr<Released>>(released_);
    check(api, api.launch_host_func(stream, hold, held.get()), "cudaLaunchHostFunc", "in the caller's stream");
    held.release();
  }
  ~CudaStreamGap() override { release(); }
  CudaStreamGap(const CudaStreamGap&) = delete;
  CudaStreamGap& operator=(const CudaStreamGap&) = delete;

  void wait() override {
    check(api_, api_.event_synchronize(before_.get()), "cudaEventSynchronize", "what the caller's stream does before");
  }
  void release() noexcept override {
    released_->store(true);
    released_->notify_all();
  }

 private:
  const Api& api_;
  Event before_;
  std::shared_ptr<Released> released_ = std::make_shared<Released>(false);
};

}  // namespace

std::unique_ptr<StreamGap> open_stream_gap(const Api& api, cudaStream_t stream) {
  return std::make_unique<CudaStreamGap>(api, stream);
}

}  // namespace shiplap
