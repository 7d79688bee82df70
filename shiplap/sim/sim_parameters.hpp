// The parameters of a profile as plain numbers in seconds and bytes, for the simulator.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap::sim {

/// The costs of one copy (LogGP, van Werkhoven et al. 2014, §V).
struct CopyFigures {
  double latency = 0;                  ///< L+o
  double gap = 0;                      ///< g
  double duplex_gap = 0;               ///< g while the opposite direction is busy
  double per_byte = 0;                 ///< G
  double duplex_per_byte = 0;          ///< G while the opposite direction is busy
  double waiting_gap = 0;              ///< added to `gap` while kernels of two or more streams wait
  double duplex_waiting_gap = 0;       ///< added to `duplex_gap` meanwhile
  double waiting_per_byte = 0;         ///< added to `per_byte` meanwhile
  double duplex_waiting_per_byte = 0;  ///< added to `duplex_per_byte` meanwhile
};

/// The times from the end of an op until an op that waits for it is ready.
struct HandoverFigures {
  double same_stream = 0;   ///< where the last op of the engine was of the same stream
  double other_stream = 0;  ///< where it was of another stream
};

struct Gpu {
  unsigned copy_engines = 2;
  EngineOrder order = EngineOrder::readiness;
  std::uint32_t stream_groups = 1;
  ImplicitSync implicit_sync = ImplicitSync::none;
  bool concurrent_kernels = true;
  double launch_latency = 0;
  double kernel_gap = 0;
  HandoverFigures h2d_handover{};  ///< between an H2D copy and a kernel
  HandoverFigures d2h_handover{};  ///< between a kernel and a D2H copy
};

/// What several GPUs reach together, in bytes per second.
struct SharedPath {
  std::vector<bool> gpus{};  ///< by number: whether it is one of them
  double h2d = 0;
  double d2h = 0;
  double both = 0;
};

/// Holds the parameters of a profile as plain numbers. For absent parameters it assumes the values that assumptions.hpp
/// names. The functions throw Unsupported when a parameter without an assumed value is absent.
class SimParameters {
 public:
  explicit SimParameters(const Profile&);

  /// The parameters of a GPU. Throws Unsupported when the profile has no such GPU.
  const Gpu& gpu(std::uint16_t number) const;

  /// What this many GPUs share.
  std::vector<SharedPath> shared(std::size_t gpus) const;

  /// The costs of a copy of pinned memory over the link.
  CopyFigures copy(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const;
  /// The additional time of a copy to the GPU from pinned memory that host threads have just written.
  double just_written_delay(Bytes size) const;
  /// The gap g between the copies of a batch.
  double batched_gap(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const;
  /// The host time of each copy of a batch but the first.
  double batched_copy() const;
  /// The host time of the call that launches a graph of `ops` ops.
  double graph_launch(std::size_t ops) const;
  /// The costs of a copy from or to pageable memory.
  CopyFigures pageable_copy(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const;
  /// The costs of moving blocks in one op.
  BlockCost block_copy(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, const Mover&, MemoryKind pool,
                       Bytes block, std::uint64_t blocks) const;
  /// The time in which one host thread gathers or scatters blocks.
  double block_copy_by_host(std::uint16_t numa_node, bool gather, Bytes block, std::uint64_t blocks) const;
  /// What a mover with a grid (0: copies) and kernels concurrent with it cost each other.
  std::optional<MutualSlowdown> beside_mover(std::uint16_t gpu, std::uint16_t numa_node, bool gather,
                                             std::uint32_t grid) const;
  /// The costs of a prefetch of managed memory.
  CopyFigures prefetch(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const;
  /// The costs of a copy inside the memory of a GPU, or from one GPU to another.
  CopyFigures device_copy(std::uint16_t from, std::uint16_t to, bool peer_access, Bytes size) const;
  /// The additional time of a kernel that touches managed memory of which `missing` bytes are on the host.
  double demand(std::uint16_t gpu, std::uint16_t numa_node, Bytes missing) const;
  /// The time of a call of a host thread that shares no resource: pin, unpin, flush, allocate, release.
  double host_call(HostCall::Kind, MemoryKind, Bytes size) const;
  /// The rates at which host threads copy together, by their number. `rings` is the size of the pinned rings that copy
  /// engines use at the same time; 0: no rings.
  std::vector<RateOfThreads> host_copy_rates(Bytes rings) const;
  /// The rate in bytes per second at which host threads together touch managed memory that is on a GPU, which faults it
  /// back to the host.
  double host_demand_rate(std::size_t threads) const;
  /// The link's rates for zero-copy kernels.
  const ZeroCopyModel& zero_copy(std::uint16_t gpu, std::uint16_t numa_node) const;

  /// Returns the rows; throws Unsupported when there are none.
  template <class Row>
  const std::vector<Row>& known(const std::vector<Row>& rows, const std::string& what) const {
    if (rows.empty()) throw_missing(what);
    return rows;
  }

  double submit_copy = 0;    ///< host time to submit a copy
  double submit_launch = 0;  ///< host time to launch a kernel
  double record = 0;         ///< host time to record an event
  double wait = 0;           ///< host time to make a stream wait for an event

 private:
  [[noreturn]] void throw_missing(const std::string& what) const;
  const HostModel& host() const;
  const BlockModel& blocks(std::uint16_t gpu, std::uint16_t numa_node) const;
  const BlockModel& blocks_by_host(std::uint16_t numa_node) const;
  const std::vector<BlockTime>& block_times(const BlockModel&, const std::string& name) const;
  const ManagedModel& managed(std::uint16_t gpu, std::uint16_t numa_node) const;

  const Profile* profile_;
  std::vector<Gpu> gpus_;
};

}  // namespace shiplap::sim
