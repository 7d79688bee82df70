// Makes the simulator's ops out of those of a schedule.
#pragma once

#include <deque>
#include <vector>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/sim/gpu_resources.hpp"
#include "shiplap/sim/machine.hpp"
#include "shiplap/sim/op_state.hpp"
#include "shiplap/sim/residency.hpp"
#include "shiplap/sim/zero_copy_times.hpp"

namespace shiplap::sim {

/// What an op is and what it costs; not yet what it waits for. The ops of a schedule are described in its order.
class OpBuilder {
 public:
  /// `zero_copy` gets the times of zero-copy kernels; ops point into it.
  OpBuilder(const Schedule&, const Machine&, std::deque<GpuResources>&, std::deque<ZeroCopyTimes>& zero_copy);

  /// Throws Unsupported when the machine has no figures for the op.
  void describe_op(OpIndex, OpState&);
  /// What host threads copy together, by their number; empty when none of the described ops is such a copy.
  std::vector<RateOfThreads> host_copy_rates() const { return host_copy_rates_; }

 private:
  /// What the figures of a copy over the link depend on.
  struct CopyKey {
    Bytes size;
    std::uint16_t numa_node = 0;
    std::uint16_t gpu = 0;
    bool to_device = false;
    bool pageable = false;
    bool written = false;
    friend bool operator==(const CopyKey&, const CopyKey&) = default;
  };

  void describe_copy(OpIndex, const Copy&, OpState&);
  void describe_copy_over_link(const Copy&, OpState&);
  void describe_prefetch(const Op&, const Prefetch&, OpState&);
  void describe_kernel(OpIndex, const Kernel&, OpState&);
  void describe_host_copy(const HostCopy&, OpState&);
  void describe_host_call(const HostCall&, OpState&);
  const CopyFigures& copy_figures(const CopyKey&);
  void require_one_gpu_for_managed() const;
  [[noreturn]] void throw_no_figures(OpIndex, const char* what) const;

  const Schedule& schedule_;
  const Machine& machine_;
  std::deque<GpuResources>& gpus_;
  std::deque<ZeroCopyTimes>& zero_copy_;
  Residency residency_;
  std::vector<bool> pinned_by_op_;     // by buffer: an op of the schedule pins it
  std::vector<bool> written_by_host_;  // by buffer: host threads of the schedule copy to it
  std::vector<RateOfThreads> host_copy_rates_;
  CopyKey last_key_;
  CopyFigures last_figures_;
};

}  // namespace shiplap::sim
