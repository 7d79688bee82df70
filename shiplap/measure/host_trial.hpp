// Trials in which the host takes part: managed memory, copies by host threads, calls of the system and the driver.
#pragma once

#include <optional>

#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// Managed memory of `size` bytes moves to the GPU or back because of a prefetch.
Trial prefetch(CopyDirection, Bytes size);
/// Managed memory of `size` bytes moves in each direction at the same time because of prefetches.
Trial prefetch_duplex(Bytes size);
/// Managed memory moves to the GPU because a kernel touches every page of it.
Trial demand_by_kernel(MeasurableDevice&, Bytes size);
/// Managed memory moves to the host because `threads` agents touch every page of it, each in its own region.
Trial demand_by_host(Bytes size, unsigned threads);
/// Managed memory of `size` bytes moves in each direction at the same time. A kernel touches one buffer and an agent
/// the other.
Trial demand_duplex(MeasurableDevice&, Bytes size);

/// `threads` agents copy from pageable to pinned memory, each its own region. With `both`, half of them copy from
/// pinned to pageable memory. The CPU caches hold none of the memory at the start.
Trial host_copies(Bytes size, unsigned threads, bool both);

/// Default size of a piece. A piece is the bytes that a host thread copies at once.
inline constexpr Bytes staging_piece = 4_MiB;
/// Pinned slots of a thread. The thread fills one slot while a copy engine reads the other.
inline constexpr unsigned staging_slots = 2;

/// Pageable memory copied through pinned rings. The pieces are distributed over `threads` agents. For H2D, an agent
/// copies a piece to one of its two pinned slots and a copy engine copies it to the GPU; for D2H the order is reversed.
/// With one direction, the CPU caches hold none of the pageable memory at the start. In duplex they hold what the
/// previous run has left, including lines that must be written back.
struct Staged {
  /// Direction; nullopt means duplex, with separate memory and half of the agents for each direction.
  std::optional<CopyDirection> way;
  Bytes size;  ///< bytes in each direction
  Bytes piece;
  unsigned threads = 1;
};
Trial staged_copies(const Staged&);

/// A kernel of many blocks that reads managed memory on the host in an order (map, strided or random). With advice that
/// pages are mostly read, a host thread touches them before each run, which removes the GPU's duplicates.
Trial demand_in_order(MeasurableDevice&, Bytes size, ProbeKind order, MemoryAdvice = MemoryAdvice::none);

/// A sequence of kernels, each of which touches one page of managed memory on the host. The pages are 2 MiB apart.
Trial faults_of_kernels(MeasurableDevice&, unsigned faults);
/// A host thread that touches pages of managed memory on the GPU one after the other. The pages are 2 MiB apart.
Trial faults_of_the_host(unsigned faults);

/// The host launches an empty kernel and waits for its end, `rounds` times.
Trial waits_for_kernels(MeasurableDevice&, unsigned rounds);

/// A stream is created and destroyed. `timed` is the call that is timed.
Trial stream_call(HostCall::Kind timed);

/// The primitive that measures calls of this kind on memory of this kind, such as "call.allocate.pinned".
std::string call_primitive(HostCall::Kind, MemoryKind);
/// A host thread makes the call `timed` and its counterpart: pin and unpin, allocate and release. A flush has no
/// counterpart. Only `timed` is timed.
Trial host_call(HostCall::Kind timed, MemoryKind, Bytes size);

}  // namespace shiplap
