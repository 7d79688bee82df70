// Waits of the host for the GPU that end at a time limit.
#pragma once

#include <functional>

#include "shiplap/core/deadline.hpp"
#include "shiplap/device/cuda/api.hpp"

namespace shiplap {

/// How a wait ended.
struct Waited {
  cudaError_t error = cudaSuccess;
  const char* call = "";  ///< the CUDA call that returned it
};

/// The pauses of a thread that looks again and again. At first it only lets others run, so that short waits end at
/// once. Later it sleeps: threads that wait would take the cores of those that copy.
class Pauses {
 public:
  explicit Pauses(Seconds until_sleep) : until_sleep_(until_sleep) {}
  void operator()() const;

 private:
  Seconds until_sleep_;
  Seconds began_ = steady_time();
};

/// Waits until the work before an event has ended, and returns what CUDA reports of it. The error is cudaErrorNotReady
/// when the deadline passes before, or `stop` returns true. Without a deadline and `stop`, this is
/// cudaEventSynchronize; otherwise the event is queried again and again, at first without pause and later every 20 µs.
Waited wait_for(const Api&, cudaEvent_t, const Deadline&, const std::function<bool()>& stop = {});
/// Waits until all work of a stream has ended or the deadline passes, as for an event.
Waited wait_for(const Api&, cudaStream_t, const Deadline&);

}  // namespace shiplap
