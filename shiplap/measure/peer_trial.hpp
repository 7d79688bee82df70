// Trials with several GPUs: copies and accesses between GPUs, and all GPUs copying with the host at once.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// A burst of copies from GPU `from` to GPU `to`, directly or, when `access` is false, through the host.
struct PeerCopies {
  std::uint16_t from = 0;
  std::uint16_t to = 1;
  Bytes size;
  unsigned copies = 1;
  bool access = true;
  bool both = false;  ///< adds the same number of copies in the other direction at the same time
};
Trial peer_copies(const PeerCopies&);

/// Kernels on GPU 0 that read or write the memory of GPU 1.
struct PeerKernels {
  AccessMode mode = AccessMode::read;
  Bytes size;  ///< bytes that one kernel reads or writes
  unsigned kernels = 1;
  std::uint64_t blocks = 1;
  bool both = false;  ///< GPU 1 does the same in the memory of GPU 0 at the same time
};
Trial peer_kernels(MeasurableDevice&, const PeerKernels&);

/// Dependent loads of 8 bytes by one thread of GPU 0 from the memory of GPU 1.
Trial peer_chase(MeasurableDevice&, Bytes footprint, unsigned reads);

/// Several GPUs copy from the host, to the host or in duplex, all at the same time.
struct AllCopies {
  bool to_device = true;
  bool from_device = false;
  Bytes size;
  unsigned copies = 1;
  std::vector<std::uint16_t> gpus{0, 1};
};
Trial all_copies(const AllCopies&);

/// Managed memory moves from GPU 0 to GPU 1 because of a prefetch, or because a kernel on GPU 1 touches it. With
/// `both`, another agent moves the same amount in the other direction at the same time.
Trial managed_to_peer(MeasurableDevice&, Bytes size, bool on_demand, bool both);

}  // namespace shiplap
