#include "shiplap/device/cuda/host_wait.hpp"

#include <cmath>
#include <thread>

namespace shiplap {
namespace {

constexpr Seconds until_sleep = milliseconds(1);

/// Asks `query` until it answers anything but "not ready", or `is_over` says that nobody waits any longer.
cudaError_t poll(const Api& api, const auto& query, const auto& is_over) {
  const Pauses pause(until_sleep);
  bool waited = false;
  while (true) {
    const cudaError_t state = query();
    if (state != cudaErrorNotReady) {
      // Some drivers keep "not ready" as the thread's last error.
      if (waited && state == cudaSuccess) static_cast<void>(api.get_last_error());
      return state;
    }
    waited = true;
    if (is_over()) {
      static_cast<void>(api.get_last_error());
      return state;
    }
    pause();
  }
}

}  // namespace

void Pauses::operator()() const {
  steady_time() - began_ < until_sleep_ ? std::this_thread::yield() : sleep_for(microseconds(20));
}

Waited wait_for(const Api& api, cudaEvent_t event, const Deadline& deadline, const std::function<bool()>& stop) {
  if (std::isinf(deadline.left().count()) && !stop) return {api.event_synchronize(event), "cudaEventSynchronize"};
  const auto is_over = [&] { return deadline.passed() || (stop && stop()); };
  return {poll(
              api, [&] { return api.event_query(event); }, is_over),
          "cudaEventQuery"};
}

Waited wait_for(const Api& api, cudaStream_t stream, const Deadline& deadline) {
  if (std::isinf(deadline.left().count())) return {api.stream_synchronize(stream), "cudaStreamSynchronize"};
  return {poll(
              api, [&] { return api.stream_query(stream); }, [&] { return deadline.passed(); }),
          "cudaStreamQuery"};
}

}  // namespace shiplap
