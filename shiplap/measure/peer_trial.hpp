// Trials with several GPUs: copies and accesses from one to another, all of them and the host at once.
#pragma once

#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// Copies from GPU `from` to GPU `to` behind one another: directly, or through the host when `access` is false.
struct PeerCopies {
  std::uint16_t from = 0;
  std::uint16_t to = 1;
  Bytes size;
  unsigned copies = 1;
  bool access = true;
  bool both = false;  ///< the same number of copies the other way at the same time
};
Trial peer_copies(const PeerCopies&);

/// Kernels on GPU 0 that read the memory of GPU 1, or write it.
struct PeerKernels {
  AccessMode mode = AccessMode::read;
  Bytes size;  ///< bytes that one kernel reads or writes
  unsigned kernels = 1;
  std::uint64_t blocks = 1;
  bool both = false;  ///< at the same time GPU 1 does the same in the memory of GPU 0
};
Trial peer_kernels(MeasurableDevice&, const PeerKernels&);

/// Reads of 8 bytes by one thread of GPU 0 from the memory of GPU 1. Each read tells where the next one is.
Trial peer_chase(MeasurableDevice&, Bytes footprint, unsigned reads);

/// Every GPU copies from the host, to the host or both, all at the same time.
struct AllCopies {
  bool to_device = true;
  bool from_device = false;
  Bytes size;
  unsigned copies = 1;
  unsigned gpus = 2;
};
Trial all_copies(const AllCopies&);

/// Managed memory moves from GPU 0 to GPU 1 because of a prefetch, or because a kernel there touches it. With `both`,
/// the same amount moves the other way at the same time, submitted by another agent.
Trial managed_to_peer(MeasurableDevice&, Bytes size, bool on_demand, bool both);

}  // namespace shiplap
