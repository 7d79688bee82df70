// The schedules that measurements run: bursts of copies, rows of kernels, chains across streams. Each names the memory
// that proves that it did its work.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/device/measurable_device.hpp"
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
  std::vector<BufferId> kept{};  ///< buffers that hold after a run what they held before
  struct Moved {
    BufferId managed;
    Place to;
  };
  std::vector<Moved> moved{};  ///< where all pages of managed memory are after a run
  StreamId timed{};            ///< the stream that is timed beside the others; none: all streams
  OpId timed_op{};             ///< the op of an agent that the host's clock times; none: the whole schedule
  /// A schedule that runs to its end before each run of `schedule`, on the same buffers, and is not timed.
  std::optional<Schedule> before{};
};

/// `copies` copies of `size` bytes each behind one another in one stream, between host memory and the GPU. Every copy
/// has a place of its own in source and destination.
Trial copy_burst(CopyDirection, Bytes size, unsigned copies, MemoryKind host = MemoryKind::pinned);

/// One copy, with the host's side dropped from the caches of the CPU before it is timed.
Trial flushed_copy(CopyDirection, Bytes size, MemoryKind host);

/// Copies of one direction dealt over several streams.
Trial spread_burst(CopyDirection, Bytes size, unsigned copies, unsigned streams);

/// A copy each way at the same time between host memory and the GPU, each submitted by an agent of its own.
Trial duplex_copies(Bytes size, MemoryKind host);

/// A copy to the GPU in each of `streams` streams, and a kernel of another stream that waits for one of them and is
/// timed: a stream of copies would not begin, by the clock, before it is its turn.
Trial one_in_each(MeasurableDevice&, Bytes size, unsigned streams, unsigned watched);

/// Copies inside the memory of the GPU behind one another.
Trial device_copies(Bytes size, unsigned copies);

/// A burst of copies, timed while copies of the same size move the other way, which go on for about twice as long.
Trial duplex_burst(CopyDirection, Bytes size, unsigned copies);

/// A pipeline without work: a copy to the GPU, an empty kernel, a copy from it, or only one of the copies.
struct EmptyPipeline {
  bool to_device = true;
  bool from_device = true;
  Bytes size;  ///< of a copy
  unsigned chunks = 1;
  /// 1: a stream for the kernels and one for each direction. More: chunks are dealt over this number of streams.
  unsigned streams = 1;
};
Trial empty_pipeline(MeasurableDevice&, const EmptyPipeline&);

/// `count` empty kernels in one stream.
Trial kernel_row(MeasurableDevice&, unsigned count);

/// Kernels of one busy block in one stream, with or without events between them.
struct SpacedKernels {
  unsigned kernels = 1;
  bool recorded =
      false;  ///< an event is recorded behind each kernel, and an empty kernel of another stream waits for it
  bool waiting =
      false;          ///< each kernel waits for the event of an empty kernel of another stream that ended long before
  bool busy = false;  ///< copies of 4 MiB move both ways meanwhile
};
Trial spaced_kernels(MeasurableDevice&, const SpacedKernels&);

/// `launches` empty kernels in a leading stream. In each of `followers` streams an empty kernel waits for each of them.
/// The host spends launches · ((1 + followers) launch + record + followers · wait), and an end mark in each follower.
Trial followers(MeasurableDevice&, unsigned launches, unsigned followers);

/// A chain in which every op waits for the one before it.
struct Chain {
  enum class Link : std::uint8_t {
    kernels,      ///< empty kernels
    to_device,    ///< a copy to the GPU, an empty kernel, and so on
    from_device,  ///< a copy from the GPU, an empty kernel, and so on
  };
  Link link = Link::kernels;
  unsigned count = 1;    ///< number of kernels
  unsigned streams = 1;  ///< streams that take turns: each kernel, with its copy, is in the stream after the last one's
  bool busy = false;  ///< copies of 4 MiB move beside the chain: both ways, or the way that the chain's copies do not
  Bytes size;         ///< of a copy in the chain
};
Trial chain(MeasurableDevice&, const Chain&);

/// Bytes per access of kernels on host memory: the most that a thread can make (CUDA C++ Programming Guide, "Device
/// Memory Accesses"). Rates depend on bytes in flight, not on the width of an access.
constexpr unsigned widest_access = 16;
/// The most memory that the kernels of a trial go around in. A pipeline touches every byte once; kernels that come back
/// to the same few places find their addresses translated, and reads by few threads seem faster than they are.
constexpr Bytes zero_copy_footprint = 256_MiB;
/// Bytes that one kernel on host memory moves: 0.15 ms at the rate of the link of an H200, long beside its launch.
constexpr Bytes bytes_per_zero_copy_launch = 8_MiB;
/// Bytes of a copy beside such kernels: 0.3 ms on the same link, long beside its fixed cost.
constexpr Bytes long_copy_beside = 16_MiB;

/// The size of the copies in a measurement beside kernels.
inline Bytes copy_size_beside(const std::map<std::string, double>& arguments) {
  return {static_cast<std::uint64_t>(arguments.at("copy"))};
}

/// Kernels that access host memory, in one stream, and copies in another.
struct ZeroCopyTrial {
  /// How the kernel accesses host memory. Its other operand is in device memory.
  enum class Access : std::uint8_t { read, write, both };
  Access access = Access::read;
  Bytes size;            ///< of one kernel
  unsigned kernels = 1;  ///< number of kernels
  std::uint64_t blocks = 1;
  unsigned width = widest_access;  ///< bytes per access
  std::optional<CopyDirection> copies{};
  Bytes copy_size = long_copy_beside;
  unsigned copy_count = 0;
  bool time_copies = false;  ///< the copies are timed instead of the kernels
};
Trial zero_copy_kernels(MeasurableDevice&, const ZeroCopyTrial&);

/// Reads of 8 bytes by one thread from mapped or device memory. Each read tells where the next one is.
Trial pointer_chase(MeasurableDevice&, MemoryKind, Bytes footprint, unsigned reads);

/// One kernel, once.
Trial single_kernel(MeasurableDevice&, ProbeKernel::Kind, std::uint64_t blocks, double amount);

}  // namespace shiplap
