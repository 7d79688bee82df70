#include "shiplap/device/cuda/host_wait.hpp"

#include <cmath>
#include <thread>

namespace shiplap {
namespace {

constexpr Seconds busy = milliseconds(1);  ///< time without pauses, so that short waits end at once
constexpr Seconds pause = microseconds(20);

}  // namespace

Waited wait_for(const Api& api, cudaEvent_t event, const Deadline& deadline, const std::function<bool()>& stop) {
  if (std::isinf(deadline.left().count()) && !stop) return {api.event_synchronize(event), "cudaEventSynchronize"};
  const Seconds began = wall_clock();
  bool waited = false;
  while (true) {
    const cudaError_t state = api.event_query(event);
    if (state != cudaErrorNotReady) {
      // Some drivers keep "not ready" as the thread's last error.
      if (waited && state == cudaSuccess) static_cast<void>(api.get_last_error());
      return {state, "cudaEventQuery"};
    }
    waited = true;
    if (deadline.passed() || (stop && stop())) {
      static_cast<void>(api.get_last_error());
      return {state, "cudaEventQuery"};
    }
    wall_clock() - began < busy ? std::this_thread::yield() : sleep_for(pause);
  }
}

}  // namespace shiplap
