// The schedules that measurements run: bursts of copies, rows of kernels, chains across queues. Each comes with what
// proves that it did its work.
#pragma once

#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// One schedule to be timed.
struct Trial {
  /// After a run, `to[0, length)` equals `from[0, length)`.
  struct Transfer {
    BufferId from;
    BufferId to;
    Bytes length;
  };
  Schedule schedule;
  std::vector<KernelBinding> kernels;
  std::vector<Transfer> transfers;
};

/// `copies` copies of `size` bytes each behind one another in one queue, between pinned memory and the GPU; every copy
/// has a place of its own in source and destination.
Trial copy_burst(CopyDirection, Bytes size, unsigned copies);

/// Bursts in both directions at once, each in its own queue with its own memory.
Trial duplex_burst(Bytes size, unsigned to_device, unsigned to_host);

/// Bursts of `copies` copies in both directions at once, each direction dealt in turn over `queues` queues of its own.
Trial queues_burst(Bytes size, unsigned copies, unsigned queues);

/// `count` empty kernels in one queue.
Trial kernel_row(Device&, unsigned count);

/// `launches` empty kernels in a leading queue; each is waited for by one empty kernel in every one of `followers`
/// queues. Costs launches · ((1 + followers) launch + record + followers · wait) on the host, and an end mark in each
/// follower.
Trial followers(Device&, unsigned launches, unsigned followers);

/// `pairs` times a 1-byte copy to the GPU, then an empty kernel that waits for it and is waited for by the next copy;
/// all in one queue, or copies and kernels in a queue each (2 · pairs − 1 dependencies across queues).
Trial handoff(Device&, unsigned pairs, bool two_queues);

/// One kernel, once.
Trial single_kernel(Device&, ProbeKernel::Kind, std::uint64_t blocks, double amount);

}  // namespace shiplap
