// Trials in which the host takes part: managed memory, copies by host threads, calls of the system and the driver.
#pragma once

#include <optional>

#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// Managed memory of `size` bytes moves to the GPU or back because of a prefetch.
Trial prefetch(CopyDirection, Bytes size);
/// Managed memory of `size` bytes moves each way at the same time because of prefetches.
Trial prefetch_duplex(Bytes size);
/// Managed memory moves to the GPU because a kernel touches every page of it.
Trial demand_by_kernel(MeasurableDevice&, Bytes size);
/// Managed memory moves to the host because `threads` agents touch every page of it, each its own part.
Trial demand_by_host(Bytes size, unsigned threads);
/// Managed memory of `size` bytes moves each way at the same time: a kernel touches one buffer, one agent the other.
Trial demand_duplex(MeasurableDevice&, Bytes size);

/// `threads` agents copy from pageable to pinned memory, each its own part. With `both`, half of them copy the other
/// way. No part of the memory is in the caches of the CPU when they begin.
Trial host_copies(Bytes size, unsigned threads, bool both);

/// Bytes of a piece, where a point does not name another size.
inline constexpr Bytes staging_piece = 4_MiB;
/// Pinned places of a thread: it fills one while a copy engine reads the other.
inline constexpr unsigned staging_slots = 2;

/// Pageable memory through pinned rings. The pieces are dealt over `threads` agents. An agent copies a piece to one of
/// its two pinned places, and a copy engine copies it from there to the GPU; or the other way round. With one `way`, no
/// part of the pageable memory is in the caches of the CPU at the start. With both, the caches hold what the last run
/// has left there, also lines that must be written back.
struct Staged {
  /// nullopt: both ways at once, each between memory of its own and by half of the agents.
  std::optional<CopyDirection> way;
  Bytes size;  ///< bytes each way
  Bytes piece;
  unsigned threads = 1;
};
Trial staged_copies(const Staged&);

/// Kernels one after the other, each of which touches one page of managed memory on the host. The pages are 2 MiB
/// apart.
Trial faults_of_kernels(MeasurableDevice&, unsigned faults);
/// A host thread that touches pages of managed memory on the GPU one after the other. The pages are 2 MiB apart.
Trial faults_of_the_host(unsigned faults);

/// The host launches an empty kernel, waits for its end, and so on.
Trial waits_for_kernels(MeasurableDevice&, unsigned rounds);

/// A stream is created and destroyed; the call `timed` is timed.
Trial stream_call(HostCall::Kind timed);

/// A host thread makes the call `timed`, which is timed, and the call that undoes it or makes it possible: pin and
/// unpin, allocate and release. A flush stands alone.
Trial host_call(HostCall::Kind timed, MemoryKind, Bytes size);

}  // namespace shiplap
