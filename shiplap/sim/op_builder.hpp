// Converts the ops of a schedule to the ops of the simulator.
#pragma once

#include <deque>
#include <vector>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/sim/gpu_resources.hpp"
#include "shiplap/sim/op_state.hpp"
#include "shiplap/sim/residency.hpp"
#include "shiplap/sim/sim_parameters.hpp"
#include "shiplap/sim/zero_copy_times.hpp"

namespace shiplap::sim {

/// Fills in what an op is and what it costs. The caller adds what the op waits for. The ops of a schedule must be
/// described in the order of the schedule.
class OpBuilder {
 public:
  /// The builder adds the times of zero-copy kernels to `zero_copy`. Ops point to them.
  OpBuilder(const Schedule&, const SimParameters&, std::deque<GpuResources>&, std::deque<ZeroCopyTimes>& zero_copy);

  /// Fills in the state of an op. Throws Unsupported when the profile has no figures for the op.
  void describe_op(OpIndex, OpState&);
  /// Rates at which host threads copy together, by their number. Empty when no described op is a copy by a host thread.
  std::vector<RateOfThreads> host_copy_rates() const { return host_copy_rates_; }

 private:
  /// All properties of a copy over the link that its costs depend on.
  struct CopyKey {
    Bytes size;
    std::uint16_t numa_node = any_numa_node;
    std::uint16_t gpu = 0;
    bool to_device = false;
    bool pageable = false;
    bool written = false;
    friend bool operator==(const CopyKey&, const CopyKey&) = default;
  };

  void describe_copy(OpIndex, const Copy&, OpState&);
  void describe_copy_over_link(const Copy&, OpState&);
  static void use_measured_time(double seconds, OpState&);
  void describe_prefetch(const Op&, const Prefetch&, OpState&);
  void describe_kernel(OpIndex, const Kernel&, OpState&);
  void describe_host_copy(const HostCopy&, OpState&);
  void describe_host_call(const HostCall&, OpState&);
  // In block_ops.cpp.
  void describe_blocks(OpIndex, const BlockCopy&, OpState&);
  void describe_blocks_by_host(const BlockCopy&, OpState&);
  void describe_blocks_by_copies(const BlockCopy&, const BlockCost&, OpState&) const;
  void describe_blocks_by_kernel(const BlockCopy&, const BlockCost&, OpState&);
  AddedBesideKernels added_beside_kernels(const BlockCopy&, const MutualSlowdown&, OpState&) const;
  const CopyFigures& copy_figures(const CopyKey&);
  void need_host_copy_rates();
  void require_one_gpu_for_managed() const;
  [[noreturn]] void throw_no_figures(OpIndex, const char* what) const;

  const Schedule& schedule_;
  const SimParameters& machine_;
  std::deque<GpuResources>& gpus_;
  std::deque<ZeroCopyTimes>& zero_copy_;
  Residency residency_;
  std::vector<bool> pinned_by_op_;     // by buffer: whether an op of the schedule pins it
  std::vector<bool> written_by_host_;  // by buffer: whether a host thread copies to it
  std::vector<RateOfThreads> host_copy_rates_;
  CopyKey last_key_;
  CopyFigures last_figures_;
};

}  // namespace shiplap::sim
