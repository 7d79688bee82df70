// Implicit synchronisation of one GPU: which copies are held back until kernels have started or ended.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "shiplap/sim/op_state.hpp"

namespace shiplap::sim {

/// A GPU with implicit synchronisation holds a copy to the host back until every kernel that was submitted before the
/// copy has started all its blocks (ImplicitSync::until_started) or has ended (ImplicitSync::until_ended).
class KernelOrder {
 public:
  KernelOrder(ImplicitSync rule, OpStates& ops) : rule_(rule), ops_(ops) {}
  /// `engines` are told when a kernel no longer holds copies back.
  void connect(const std::array<CopyEngine*, 3>& engines) { engines_ = engines; }

  /// Registers the next kernel in the order of submission. A kernel is registered before it starts.
  void add() { released_.push_back(false); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(released_.size()); }

  void first_blocks_started(OpIndex kernel, double now) { ops_[kernel].start = now; }
  void last_blocks_started(OpIndex kernel, double now) {
    if (rule_ == ImplicitSync::until_started) release_copies(kernel, now);
  }
  void ended(OpIndex kernel, double now) {
    if (rule_ == ImplicitSync::until_ended) release_copies(kernel, now);
  }
  /// Whether implicit synchronisation concerns the copy.
  bool may_hold_back(const OpState& copy) const { return rule_ != ImplicitSync::none && !copy.to_device; }
  /// Whether implicit synchronisation concerns copies of this GPU.
  bool may_hold_back() const { return rule_ != ImplicitSync::none; }
  bool lets_start(const OpState& copy) const { return !may_hold_back(copy) || released_up_to_ >= copy.kernels_before; }

 private:
  void release_copies(OpIndex kernel, double now);

  ImplicitSync rule_;
  OpStates& ops_;
  std::array<CopyEngine*, 3> engines_{};
  std::vector<bool> released_;        // by order of submission: whether the kernel no longer holds copies back
  std::uint32_t released_up_to_ = 0;  // number of kernels, from the first on, that are all released
};

}  // namespace shiplap::sim
