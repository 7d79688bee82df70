// A copy engine of one GPU: which copy it takes next, when the copy's data starts, and when the data has moved.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "shiplap/schedule/timeline.hpp"
#include "shiplap/sim/machine.hpp"
#include "shiplap/sim/op_state.hpp"
#include "shiplap/sim/resource.hpp"

namespace shiplap::sim {

class KernelOrder;
class Link;
class ZeroCopyKernels;

/// Copies wait in groups of streams: the engine serves one group until none of its copies waits, then the next. A
/// copy's data starts L+o after the copy is ready, and not before g has passed since the copy before it; it moves at
/// the rate that the link leaves it.
class CopyEngine final : public Resource {
 public:
  CopyEngine(Engine name, const Gpu& gpu, OpStates& ops, Link& link, const KernelOrder& kernels,
             const ZeroCopyKernels& zero_copy);
  /// Makes two engines serve one direction of a link each.
  void connect(CopyEngine& opposite) { opposite_ = &opposite; }

  /// The copy was submitted.
  void queued(OpIndex);
  /// Everything that the copy waits for has ended.
  void ready(OpIndex);
  /// Takes the next copy if the engine is free and the copy may start.
  void start_next(double now);

  OpIndex advance() override;
  void go_on(double now) override;

  /// Accounts for the bytes that have moved, and foresees the end at the present rate.
  void settle(double now);

  Engine name() const { return name_; }
  bool moves() const { return moving_; }
  bool moves(bool to_device) const { return moving_ && last_to_device_ == to_device; }
  /// Whether the engine moves data, or is in the gap between two copies.
  bool is_occupied() const { return occupied_; }
  bool is_opposite_occupied() const { return opposite_ != nullptr && opposite_->occupied_; }
  StreamIndex last_stream() const { return last_stream_; }

 private:
  void wait(OpIndex);
  bool find_waiting();
  bool may_start(const OpState&) const;
  double gap(OpIndex) const;
  OpIndex start_data(double now);
  OpIndex end_data(double now);
  void set_occupied(bool, double now);

  Engine name_;
  EngineOrder order_;
  OpStates& ops_;
  Link& link_;
  const KernelOrder& kernels_;
  const ZeroCopyKernels& zero_copy_;
  CopyEngine* opposite_ = nullptr;

  std::vector<std::deque<OpIndex>> waiting_;  // by group of streams
  std::uint32_t group_ = 0;                   // served at present
  OpIndex current_ = no_op;
  bool moving_ = false;  // the data of the current copy
  bool occupied_ = false;
  double remaining_ = 0;  // bytes of the current copy
  double updated_ = 0;

  OpIndex last_ = no_op;
  StreamIndex last_stream_ = no_stream;
  bool last_to_device_ = false;
  double free_at_ = -1;    // end of the last copy; < 0: never used
  OpIndex ended_ = no_op;  // with the event that is being performed
};

}  // namespace shiplap::sim
