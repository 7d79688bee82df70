// The zero-copy kernels of one GPU: kernels that access pinned host memory, one after the other.
#pragma once

#include <deque>

#include "shiplap/sim/op_state.hpp"
#include "shiplap/sim/resource.hpp"

namespace shiplap::sim {

class CopyEngine;
class KernelOrder;
class Link;

/// Such kernels take turns, because together they would not move more. Each takes as long as its times say, alone or
/// beside the copies that move meanwhile.
class ZeroCopyKernels final : public Resource {
 public:
  ZeroCopyKernels(OpStates& ops, Link& link, KernelOrder& kernels, const CopyEngine& h2d, const CopyEngine& d2h)
      : ops_(ops), link_(link), kernels_(kernels), h2d_(h2d), d2h_(d2h) {}

  void arrive(OpIndex, double now);

  OpIndex advance() override;
  void go_on(double now) override;

  /// Accounts for the share of the kernel that has passed, and foresees its end beside the copies of the moment.
  void settle(double now);
  bool runs() const { return current_ != no_op; }
  /// The kernel beside which copies move, or null: the one that runs, or the last one in the gap behind it.
  const ZeroCopyTimes* felt_by_copies() const { return felt_; }

 private:
  void start_next(double now);

  OpStates& ops_;
  Link& link_;
  KernelOrder& kernels_;
  const CopyEngine& h2d_;
  const CopyEngine& d2h_;

  std::deque<OpIndex> waiting_;
  OpIndex current_ = no_op;
  const ZeroCopyTimes* felt_ = nullptr;
  double remaining_ = 0;  // share of the current kernel
  double updated_ = 0;
  OpIndex ended_ = no_op;  // with the event that is being performed
};

}  // namespace shiplap::sim
