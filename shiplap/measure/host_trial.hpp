// Trials in which the host takes part: managed memory, copies by host threads, calls of the system and the driver.
#pragma once

#include <optional>

#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// Managed memory of `size` bytes moves to the GPU or back because of a prefetch.
Trial prefetch(CopyDirection, Bytes size);
/// One such buffer each way at the same time.
Trial prefetch_both(Bytes size);
/// Managed memory moves to the GPU because a kernel touches every page of it.
Trial demand_by_kernel(MeasurableDevice&, Bytes size);
/// Managed memory moves to the host because `threads` agents touch every page of it, each its own part.
Trial demand_by_host(Bytes size, unsigned threads);
/// One such buffer each way at the same time; one agent touches.
Trial demand_both(MeasurableDevice&, Bytes size);

/// `threads` agents copy from pageable to pinned memory, each its own part; with `both` every other one the other way.
/// Nothing of it is in the caches of the CPU when they begin.
Trial host_copies(Bytes size, unsigned threads, bool both);

inline constexpr Bytes staging_piece = 4_MiB;  ///< where not said otherwise
inline constexpr unsigned staging_places = 2;  ///< of a thread

/// Pageable memory through pinned rings: each of `threads` agents takes every so many-th piece, copies it to one of its
/// two pinned places and has a copy engine take it from there; or the other way round. One way nothing of the pageable
/// memory is in the caches of the CPU when they begin; both ways they hold what the last run has left, which has to
/// make way, dirty lines too.
struct Staged {
  std::optional<CopyDirection>
      way;     ///< nullopt: both at once, between memories of their own, by half of the agents each
  Bytes size;  ///< each way
  Bytes piece;
  unsigned threads = 1;
};
Trial staged(const Staged&);

/// Page faults one after the other, in pages that are 2 MiB apart: of kernels that touch one page each of managed
/// memory on the host, or of a host thread that touches pages on the GPU.
Trial faults_of_kernels(MeasurableDevice&, unsigned faults);
Trial faults_of_the_host(unsigned faults);

/// The host launches an empty kernel, waits for its end, and so on.
Trial waits_for_kernels(MeasurableDevice&, unsigned rounds);

/// A queue is made and given up again; one of the calls is timed.
Trial queue_call(HostCall::Kind timed);

/// A call of a host thread, timed, and what undoes it: pin (timed) and unpin, pin and unpin (timed), flush, allocate
/// (timed) and release, allocate and release (timed).
Trial host_call(HostCall::Kind timed, MemoryKind, Bytes size);

}  // namespace shiplap
