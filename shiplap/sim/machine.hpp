// A profile as the plain numbers that the simulator works with, in seconds and bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap::sim {

/// What one copy costs on its way.
struct CopyFigures {
  double latency = 0;          ///< L+o
  double gap = 0;              ///< g
  double duplex_gap = 0;       ///< g while the opposite direction is busy
  double per_byte = 0;         ///< G
  double duplex_per_byte = 0;  ///< G while the opposite direction is busy
  /// What these are more while kernels of two or more queues wait.
  double waiting_gap = 0;
  double duplex_waiting_gap = 0;
  double waiting_per_byte = 0;
  double duplex_waiting_per_byte = 0;
};

/// From the end of an op until one that waits for it is ready.
struct HandoverFigures {
  double idle = 0;
  double busy = 0;  ///< while other copies move
};
/// What hands over to what; the order of `handover_names`.
enum class HandoverKind : std::uint8_t { h2d_same_queue, h2d_other_queue, d2h_same_queue, d2h_other_queue, kernels };

struct Gpu {
  unsigned copy_engines = 2;
  EngineOrder order = EngineOrder::readiness;
  std::uint32_t queue_groups = 1;
  ImplicitSync implicit_sync = ImplicitSync::none;
  bool concurrent_kernels = true;
  double launch_latency = 0;
  double kernel_gap = 0;
  HandoverFigures event_gap;  ///< between kernels of a queue, more than `kernel_gap`
  std::array<HandoverFigures, handover_names.size()> handovers{};
};

/// Looks parameters up once; what the profile lacks is taken as zero and named in `assumptions`.
class Machine {
 public:
  explicit Machine(const Profile&);

  /// Of a copy over the link. Throws Unsupported when the profile has no such link.
  CopyFigures copy(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const;
  /// Between the copies of a batch: g, and what each but the first costs the host. Throw Unsupported when the profile
  /// has no figures for them.
  double batched_gap(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const;
  double batched_copy() const;
  /// Host time to launch a graph of so many ops. Throws Unsupported likewise.
  double graph_launch(std::size_t ops) const;
  /// What a copy to the GPU takes longer from page-locked memory that host threads have just written.
  double written(Bytes size) const;
  /// Of a copy from or to pageable memory, and of a prefetch of managed memory. Throws Unsupported when the profile has
  /// no figures for them.
  CopyFigures pageable_copy(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const;
  CopyFigures prefetch(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const;
  /// Of a copy inside the memory of a GPU, or from one GPU to another. Throws Unsupported likewise.
  CopyFigures device_copy(std::uint16_t from, std::uint16_t to, bool peer_access, Bytes size) const;
  /// What a kernel takes longer because `missing` bytes of managed memory are on the host. Throws Unsupported likewise.
  double demand(std::uint16_t gpu, std::uint16_t numa_node, Bytes missing) const;
  /// Of a call of a host thread that does not share a resource: pin, unpin, flush, allocate, release. Throws
  /// Unsupported likewise.
  double host_call(HostCall::Kind, MemoryKind, Bytes size) const;
  /// What host threads copy together, from and to no page-locked memory of which copy engines take their part, or so
  /// many bytes of it. Throws Unsupported likewise.
  std::vector<RateOfThreads> host_copy_rates(Bytes rings) const;
  /// Bytes a second that host threads move together by touching managed memory that is on a GPU. Throws Unsupported
  /// likewise.
  double host_demand_rate(std::size_t threads) const;
  /// The link's figures for kernels that access host memory. Throws Unsupported when the profile has none.
  const ZeroCopyModel& zero_copy(std::uint16_t gpu, std::uint16_t numa_node) const;
  /// Throws Unsupported when the profile has no such GPU.
  const Gpu& gpu(std::uint16_t number) const;

  double submit_copy = 0;
  double submit_launch = 0;
  double record = 0;
  double wait = 0;
  std::vector<std::string> assumptions;

 private:
  [[noreturn]] void throw_missing(const std::string& what) const;
  /// The table, which must not be empty.
  template <class Row>
  const std::vector<Row>& known(const std::vector<Row>& rows, const std::string& what) const {
    if (rows.empty()) throw_missing(what);
    return rows;
  }
  const HostModel& host() const;
  const ManagedModel& managed(std::uint16_t gpu, std::uint16_t numa_node) const;

  const Profile* profile_;
  std::vector<Gpu> gpus_;
};

}  // namespace shiplap::sim
