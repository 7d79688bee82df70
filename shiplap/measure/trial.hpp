// The schedules that measurements run: bursts of copies, sequences of kernels, chains across streams. Each lists the
// memory by which its work is verified.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

using CopyDirection::device_to_host;
using CopyDirection::host_to_device;
inline constexpr std::array both_directions{host_to_device, device_to_host};
inline CopyDirection opposite(CopyDirection way) { return way == host_to_device ? device_to_host : host_to_device; }

/// One schedule to be timed, and what belongs to it.
struct Trial {
  /// A condition that a run must meet: `to[0, length)` equals `from[0, length)`.
  struct Transfer {
    BufferId from;
    BufferId to;
    Bytes length;
  };
  Schedule schedule;
  std::vector<KernelBinding> kernels;
  std::vector<Transfer> transfers;
  std::vector<BufferId> kept{};  ///< buffers whose content a run must not change
  struct Moved {
    BufferId managed;
    Place to;
  };
  std::vector<Moved> moved{};  ///< location of managed memory after a run
  StreamId timed{};            ///< stream that is timed; none means all streams
  OpId timed_op{};             ///< op of an agent that the host's clock times; none means the whole schedule
  /// An untimed schedule on the same buffers that runs to its end before each run of `schedule`.
  std::optional<Schedule> before{};
  /// Indices by BlockListId, for all schedules of the trial; empty for a regular list.
  std::vector<std::vector<std::uint32_t>> lists{};
  /// Whether the streams are held until everything is submitted. A run whose ops end while the host still submits must
  /// not be held, and thousands of calls do not fit into the hardware queues.
  bool held = true;
  /// An untimed schedule on the same buffers that runs once, before the run that verifies the bytes.
  std::optional<Schedule> set_up{};
  /// An untimed schedule on the same buffers that runs before the bytes are compared.
  std::optional<Schedule> read_back{};
};

/// A burst of `copies` copies of `size` bytes each in one stream, between host memory and the GPU. Every copy has its
/// own region in source and destination.
Trial copy_burst(CopyDirection, Bytes size, unsigned copies, MemoryKind host = MemoryKind::pinned);

/// Copies of one direction distributed over several streams.
Trial spread_burst(CopyDirection, Bytes size, unsigned copies, unsigned streams);

/// One copy in each direction at the same time, each submitted by its own agent.
Trial duplex_copies(Bytes size, MemoryKind host);

/// A copy to the GPU in each of `streams` streams, and a kernel in another stream that waits for the copy in stream
/// `watched` and is timed. The kernel is needed because the start event of a copy stream is only recorded when the copy
/// engine serves that stream.
Trial one_in_each(MeasurableDevice&, Bytes size, unsigned streams, unsigned watched);

/// A timed copy in one stream, submitted behind a kernel of busy blocks in another stream (none: 0 blocks) and, if it
/// is `followed`, behind a copy of the same direction that waits for the kernel.
Trial copy_behind_kernel(MeasurableDevice&, CopyDirection, Bytes size, std::uint64_t blocks, bool followed);

/// A burst of copies within device memory.
Trial device_copies(Bytes size, unsigned copies);

/// A burst of copies, timed while about twice as many copies of the same size move in the other direction.
Trial duplex_burst(CopyDirection, Bytes size, unsigned copies);

/// A pipeline: each chunk has an empty kernel, behind its copy to the GPU or before its copy to the host.
struct EmptyPipeline {
  CopyDirection way = CopyDirection::host_to_device;
  bool duplex = false;  ///< whether independent copies of the other direction move until the end
  Bytes size;           ///< size of a copy
  unsigned chunks = 1;
  /// 1: one stream for the kernels and one for the copies. More: chunks are distributed over this number of streams.
  unsigned streams = 1;
};
Trial empty_pipeline(MeasurableDevice&, const EmptyPipeline&);

/// `count` empty kernels in one stream.
Trial kernel_row(MeasurableDevice&, unsigned count);

/// `launches` empty kernels in a leading stream. In each of `followers` streams an empty kernel waits for each of them.
/// The host time is launches · ((1 + followers) launch + record + followers · wait), plus a stop event in each
/// follower.
Trial followers(MeasurableDevice&, unsigned launches, unsigned followers);

/// A chain of a copy, an empty kernel, a copy and so on, in which every op waits for the one before it.
struct Chain {
  CopyDirection way = host_to_device;  ///< direction of the copies
  unsigned count = 1;                  ///< number of copies, and of kernels
  unsigned streams = 1;  ///< number of streams; consecutive kernels, with their copies, are in consecutive streams
  Bytes size;            ///< size of a copy
};
Trial chain(MeasurableDevice&, const Chain&);

/// Bytes per access of kernels on host memory: the most that a thread supports (CUDA C++ Programming Guide, "Device
/// Memory Accesses"). Rates depend on bytes in flight, not on the bytes per access.
constexpr unsigned widest_access = 16;
/// Most memory that the kernels of a trial cycle through. A pipeline touches every byte once. Kernels that return to a
/// small region find its address translations cached, which makes reads by few threads too fast.
constexpr Bytes zero_copy_footprint = 256_MiB;
/// Bytes that one kernel on host memory moves: 0.15 ms at the link rate of an H200, long compared with a launch.
constexpr Bytes bytes_per_zero_copy_launch = 8_MiB;
/// Bytes of a copy beside zero-copy kernels: 0.3 ms at the link rate of an H200, long compared with its fixed cost.
constexpr Bytes long_copy_beside = 16_MiB;

/// Size of the copies in a measurement concurrent with kernels.
inline Bytes copy_size_beside(const std::map<std::string, double>& arguments) {
  return {static_cast<std::uint64_t>(arguments.at("copy"))};
}

/// Kernels that access host memory, in one stream, and copies in another.
struct ZeroCopyTrial {
  /// How the kernel accesses host memory. Its other operand is in device memory.
  enum class Access : std::uint8_t { read, write, both };
  Access access = Access::read;
  Bytes size;            ///< bytes that one kernel accesses
  unsigned kernels = 1;  ///< number of kernels
  std::uint64_t blocks = 1;
  unsigned width = widest_access;            ///< bytes per access
  ProbeKind kernel = ProbeKind::map;         ///< order of the accesses: map, strided or random
  MemoryKind memory = MemoryKind::mapped;    ///< kind of the host memory
  MemoryAdvice advice = MemoryAdvice::none;  ///< advice on managed memory
  std::optional<CopyDirection> copies{};
  Bytes copy_size = long_copy_beside;
  unsigned copy_count = 0;
  bool time_copies = false;  ///< times the copies instead of the kernels
};
Trial zero_copy_kernels(MeasurableDevice&, const ZeroCopyTrial&);

/// Dependent loads of 8 bytes by one thread from mapped or device memory.
Trial pointer_chase(MeasurableDevice&, MemoryKind, Bytes footprint, unsigned reads);

/// A single kernel launch.
Trial single_kernel(MeasurableDevice&, ProbeKind, std::uint64_t blocks, double amount);

}  // namespace shiplap
