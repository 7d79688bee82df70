// The zero-copy kernels of one GPU, which access pinned host memory. They run one after the other.
#pragma once

#include <deque>

#include "shiplap/sim/op_state.hpp"
#include "shiplap/sim/resource.hpp"

namespace shiplap::sim {

class Compute;
class CopyEngine;
class KernelOrder;
class Link;

/// Zero-copy kernels run one after the other, because several at once would not move more bytes over the link. A kernel
/// takes longer while copies move beside it (ZeroCopyTimes). A kernel that moves blocks slows the kernels of Compute
/// down. It first waits until thread blocks of a kernel that fills the GPU have ended, and slows nothing down
/// meanwhile.
class ZeroCopyKernels final : public Resource {
 public:
  ZeroCopyKernels(OpStates& ops, Link& link, KernelOrder& kernels, Compute& compute, const CopyEngine& h2d,
                  const CopyEngine& d2h)
      : ops_(ops), link_(link), kernels_(kernels), compute_(compute), h2d_(h2d), d2h_(d2h) {}

  void arrive(OpIndex, double now);

  OpIndex advance() override;
  void after_event(double now) override;

  /// Updates the fraction of the kernel that remains, and sets its end by the copies that move now.
  void update_progress(double now);
  bool is_running() const { return current_ != no_op && !waits_for_sms_; }
  /// Bytes of the running kernel over the link in this direction.
  double bytes(bool to_device) const { return ops_[current_].zero_copy->bytes[to_device]; }
  /// Time of the whole running kernel, as far as its own link is concerned.
  double own_duration() const;
  /// What the link shares with others leaves the running kernel no less time than this.
  void hold_to(double duration) { shared_duration_ = duration; }
  /// Begins the current kernel if it waits for SMs and no kernel of Compute runs any more.
  void kernels_changed(double now);
  /// The times of the kernel that slows copies down: the running kernel, or in the gap after it the last kernel. Null:
  /// none.
  const ZeroCopyTimes* slowing_copies() const { return slowing_copies_; }

 private:
  void start_next(double now);
  void begin(double now);
  void set_slowing(const ZeroCopyTimes*, double now);

  OpStates& ops_;
  Link& link_;
  KernelOrder& kernels_;
  Compute& compute_;
  const CopyEngine& h2d_;
  const CopyEngine& d2h_;

  std::deque<OpIndex> waiting_;
  OpIndex current_ = no_op;
  bool waits_for_sms_ = false;  // the current kernel has no SMs yet
  const ZeroCopyTimes* slowing_copies_ = nullptr;
  double remaining_ = 0;  // fraction of the current kernel
  double updated_ = 0;
  double shared_duration_ = 0;  // least time of the current kernel by what its link shares with others; 0: none
  OpIndex ended_ = no_op;       // the op that ended with the current event
};

}  // namespace shiplap::sim
