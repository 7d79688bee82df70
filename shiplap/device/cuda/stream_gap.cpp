#include "shiplap/device/cuda/stream_gap.hpp"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/cuda/host_wait.hpp"

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
      : api_(api), own_(api), before_(make_order_event(api, "in the caller's stream")) {
    check(api, api.event_record(before_.get(), stream), "cudaEventRecord", "in the caller's stream");
    auto held = std::make_unique<std::shared_ptr<Released>>(released_);
    check(api, api.launch_host_func(stream, hold, held.get()), "cudaLaunchHostFunc", "in the caller's stream");
    held.release();
  }
  ~CudaStreamGap() override { release(); }
  CudaStreamGap(const CudaStreamGap&) = delete;
  CudaStreamGap& operator=(const CudaStreamGap&) = delete;

  void wait(Seconds limit, const std::function<bool()>& stop) override {
    const OwnContext::Scope scope(own_);
    const Deadline deadline = Deadline::in(limit);
    const auto [error, call] = wait_for(api_, before_.get(), deadline, stop);
    if (error == cudaErrorNotReady && deadline.passed())
      throw TimedOut(
          fmt::format("the work that the caller's stream held before the run did not end within the time "
                      "limit of {}: the run has not begun",
                      to_string(limit)));
    if (error == cudaErrorNotReady)
      throw Cancelled("the run was stopped while it waited for the work that the caller's stream held before it");
    check(api_, error, call, "what the caller's stream does before");
  }
  void release() noexcept override {
    released_->store(true);
    released_->notify_all();
  }

 private:
  const Api& api_;
  OwnContext own_;
  Event before_;
  std::shared_ptr<Released> released_ = std::make_shared<Released>(false);
};

}  // namespace

std::unique_ptr<StreamGap> open_stream_gap(const Api& api, cudaStream_t stream) {
  return std::make_unique<CudaStreamGap>(api, stream);
}

}  // namespace shiplap
