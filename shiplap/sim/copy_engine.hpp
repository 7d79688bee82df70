// A copy engine of one GPU. It chooses its next copy, and the times when the copy's data starts and ends.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "shiplap/schedule/timeline.hpp"
#include "shiplap/sim/op_state.hpp"
#include "shiplap/sim/resource.hpp"
#include "shiplap/sim/sim_parameters.hpp"

namespace shiplap::sim {

class KernelOrder;
class Link;
class ZeroCopyKernels;

/// Streams are divided into groups: with n groups, stream i is in group i mod n (GpuModel::stream_groups). Each group
/// has a list of waiting copies. The engine empties one list before it serves the next. The data of a copy starts L+o
/// after the copy became ready, but not before g after the end of the previous copy. The rate of the copy depends on
/// other traffic on the link.
class CopyEngine final : public Resource {
 public:
  CopyEngine(Engine name, const Gpu& gpu, OpStates& ops, Link& link, const KernelOrder& kernels,
             const ZeroCopyKernels& zero_copy, Compute& compute);
  /// `opposite` is the engine of the other direction of the same link.
  void connect(CopyEngine& opposite) { opposite_ = &opposite; }

  /// Tells the engine that the copy was submitted.
  void queued(OpIndex);
  /// Tells the engine that everything that the copy waits for has ended.
  void ready(OpIndex);
  /// Takes the next copy if the engine is free and the copy may start.
  void start_next(double now);

  OpIndex advance() override;
  void after_event(double now) override;

  /// Subtracts the bytes that have moved since the last update, and sets the end of the copy by the current rate.
  void update_progress(double now);
  /// Seconds for each byte of the copy that moves, as far as its own link is concerned.
  double own_per_byte() const;
  /// What it shares with other links leaves it no less time than this for a byte.
  void hold_to(double per_byte) { shared_per_byte_ = per_byte; }

  Engine name() const { return name_; }
  bool moves() const { return moving_; }
  bool moves(bool to_device) const { return moving_ && last_to_device_ == to_device; }
  /// Whether the engine moves data, or is in the gap between two copies.
  bool is_opposite_occupied() const { return opposite_ != nullptr && opposite_->occupied_; }
  StreamIndex last_stream() const { return last_stream_; }

 private:
  void enqueue(OpIndex);
  OpIndex take_next();
  std::deque<OpIndex>::iterator first_not_held_back(std::deque<OpIndex>&) const;
  bool may_start(const OpState&) const;
  void slow_kernels(const KernelSlowdown&, bool to_device, double now);
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
  Compute& compute_;
  CopyEngine* opposite_ = nullptr;

  std::vector<std::deque<OpIndex>> waiting_;  // waiting copies by group of streams
  std::uint32_t group_ = 0;                   // the group that is served
  OpIndex current_ = no_op;
  bool moving_ = false;  // whether data of the current copy moves
  bool occupied_ = false;
  double remaining_ = 0;        // bytes of the current copy
  double shared_per_byte_ = 0;  // least seconds for a byte by what it shares with other links; 0: none
  double updated_ = 0;          // time of the last update

  OpIndex last_ = no_op;
  StreamIndex last_stream_ = no_stream;
  bool last_to_device_ = false;
  double free_at_ = -1;    // end of the last copy; negative: no copy has ended
  OpIndex ended_ = no_op;  // the op that ended with the current event
};

}  // namespace shiplap::sim
