// The kernels of one GPU in the order of their submission: which have started and ended, and what waits for that.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "shiplap/sim/op_state.hpp"

namespace shiplap::sim {

/// A GPU with implicit synchronisation holds a copy to the host back until every kernel that was submitted before it
/// has started all its blocks, or has ended.
class KernelOrder {
 public:
  KernelOrder(ImplicitSync rule, OpStates& ops) : rule_(rule), ops_(ops) {}
  /// The copy engines that may go on when a kernel lets copies go.
  void connect(const std::array<CopyEngine*, 3>& engines) { engines_ = engines; }

  /// Enters a further kernel. All are entered before the first one starts.
  void add() { passed_.push_back(false); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(passed_.size()); }

  void first_blocks_started(OpIndex kernel, double now) { ops_[kernel].start = now; }
  void last_blocks_started(OpIndex kernel, double now) {
    if (rule_ == ImplicitSync::until_started) pass(kernel, now);
  }
  void ended(OpIndex kernel, double now) {
    if (rule_ == ImplicitSync::until_ended) pass(kernel, now);
  }
  /// Whether copies wait for kernels that they do not depend on.
  bool holds_back(const OpState& copy) const { return rule_ != ImplicitSync::none && !copy.to_device; }
  bool lets_go(const OpState& copy) const { return !holds_back(copy) || passed_up_to_ >= copy.kernels_before; }

 private:
  void pass(OpIndex kernel, double now);

  ImplicitSync rule_;
  OpStates& ops_;
  std::array<CopyEngine*, 3> engines_{};
  std::vector<bool> passed_;  // by the order of submission
  std::uint32_t passed_up_to_ = 0;
};

}  // namespace shiplap::sim
