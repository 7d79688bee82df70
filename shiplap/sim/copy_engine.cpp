#include "shiplap/sim/copy_engine.hpp"

#include <algorithm>

#include "shiplap/sim/kernel_order.hpp"
#include "shiplap/sim/link.hpp"
#include "shiplap/sim/zero_copy_kernels.hpp"

namespace shiplap::sim {

CopyEngine::CopyEngine(Engine name, const Gpu& gpu, OpStates& ops, Link& link, const KernelOrder& kernels,
                       const ZeroCopyKernels& zero_copy, Compute& compute)
    : name_(name),
      order_(gpu.order),
      ops_(ops),
      link_(link),
      kernels_(kernels),
      zero_copy_(zero_copy),
      compute_(compute),
      waiting_(gpu.stream_groups) {}

void CopyEngine::queued(OpIndex op) {
  if (order_ == EngineOrder::submission) enqueue(op);
}

void CopyEngine::ready(OpIndex op) {
  if (order_ == EngineOrder::readiness) enqueue(op);
}

void CopyEngine::enqueue(OpIndex op) { waiting_[ops_[op].stream % waiting_.size()].push_back(op); }

// Takes the next copy from the list of its group, and moves on to the next group when the current one has none. Returns
// `no_op` when no copy may start.
OpIndex CopyEngine::take_next() {
  for (std::size_t tried = 0; tried < waiting_.size(); ++tried) {
    std::deque<OpIndex>& waiting = waiting_[group_];
    if (const auto next = first_not_held_back(waiting); next != waiting.end()) {
      const OpIndex op = *next;
      if (!may_start(ops_[op])) return no_op;
      waiting.erase(next);
      return op;
    }
    group_ = (group_ + 1) % static_cast<std::uint32_t>(waiting_.size());
  }
  return no_op;
}

// In the order of submission no copy passes another one. In the order of readiness a copy that implicit synchronisation
// holds back lets copies of other streams pass, because the kernels that hold it back may wait for one of them.
std::deque<OpIndex>::iterator CopyEngine::first_not_held_back(std::deque<OpIndex>& waiting) const {
  if (order_ == EngineOrder::submission || !kernels_.may_hold_back()) return waiting.begin();
  std::vector<StreamIndex> held_back;
  return std::ranges::find_if(waiting, [&](OpIndex op) {
    if (std::ranges::find(held_back, ops_[op].stream) != held_back.end()) return false;
    if (kernels_.lets_start(ops_[op])) return true;
    held_back.push_back(ops_[op].stream);
    return false;
  });
}

bool CopyEngine::may_start(const OpState& copy) const {
  if (copy.pending > 0) return false;
  // The driver performs one prefetch after the other, also when their directions differ.
  if (copy.moves_pages && opposite_ != nullptr && opposite_->current_ != no_op && ops_[opposite_->current_].moves_pages)
    return false;
  return kernels_.lets_start(copy);
}

void CopyEngine::start_next(double now) {
  if (current_ != no_op) return;
  const OpIndex op = take_next();
  if (op == no_op) return;
  OpState& copy = ops_[op];
  // A copy that implicit synchronisation held back counts as ready only now.
  if (kernels_.may_hold_back(copy) && free_at_ < now) copy.ready = std::max(copy.ready, now);
  double start = copy.ready + copy.latency;
  bool in_gap = false;
  if (free_at_ >= 0) {
    const double after_gap = free_at_ + gap(op);
    in_gap = after_gap >= start;
    start = std::max(start, after_gap);
  }
  const bool turned = last_to_device_ != copy.to_device;
  current_ = last_ = op;
  last_stream_ = copy.stream;
  last_to_device_ = copy.to_device;
  moving_ = false;
  next_event_ = std::max(start, now);
  set_occupied(in_gap, now);
  if (turned) link_.update_progress(now);  // the rates of zero-copy kernels depend on the direction of copies
}

// The time between the end of the previous copy and the start of the data of this one.
double CopyEngine::gap(OpIndex op) const {
  const OpState& copy = ops_[op];
  if (last_to_device_ != copy.to_device) return copy.latency;
  // Measured: gaps inside a batch do not grow while the opposite engine is occupied.
  if (copy.batched && last_ + 1 == op) return copy.batched_gap;
  const bool slowed = link_.slows_copies();
  if (is_opposite_occupied()) return copy.copy.duplex_gap + (slowed ? copy.copy.duplex_waiting_gap : 0);
  return copy.copy.gap + (slowed ? copy.copy.waiting_gap : 0);
}

OpIndex CopyEngine::advance() {
  const double now = next_event_;
  link_.update_progress(now);
  ended_ = moving_ ? end_data(now) : start_data(now);
  return ended_;
}

OpIndex CopyEngine::start_data(double now) {
  OpState& copy = ops_[current_];
  copy.start = now;
  moving_ = true;
  occupied_ = true;
  remaining_ = copy.bytes;
  shared_per_byte_ = 0;
  updated_ = now;
  link_.update_progress(now);
  update_progress(now);  // the link does not update copies inside and between the memories of GPUs
  if (copy.slows.memory > 0 || copy.slows.compute > 0) slow_kernels(copy.slows, copy.to_device, now);
  return no_op;
}

void CopyEngine::slow_kernels(const KernelSlowdown& slowdown, bool to_device, double now) {
  compute_.set_slowdown(to_device ? Compute::By::copies_to_device : Compute::By::copies_to_host, slowdown, now);
}

OpIndex CopyEngine::end_data(double now) {
  const OpIndex op = current_;
  const OpState& copy = ops_[op];
  if (copy.slows.memory > 0 || copy.slows.compute > 0) slow_kernels({}, copy.to_device, now);
  current_ = no_op;
  moving_ = false;
  free_at_ = now;
  next_event_ = never;
  link_.update_progress(now);
  return op;
}

void CopyEngine::after_event(double now) {
  // A prefetch that has ended may have blocked a prefetch of the opposite direction.
  if (ended_ != no_op && ops_[ended_].moves_pages && opposite_ != nullptr) opposite_->start_next(now);
  start_next(now);
  // The engine stays occupied in the gap before the next copy. Without one the opposite direction speeds up.
  if (current_ == no_op) set_occupied(false, now);
}

void CopyEngine::set_occupied(bool occupied, double now) {
  if (occupied_ == occupied) return;
  link_.update_progress(now);
  occupied_ = occupied;
  link_.update_progress(now);
}

double CopyEngine::own_per_byte() const {
  const OpState& op = ops_[current_];
  const CopyFigures& copy = op.copy;
  const bool slowed = link_.slows_copies();
  double per_byte = is_opposite_occupied() ? copy.duplex_per_byte + (slowed ? copy.duplex_waiting_per_byte : 0)
                                           : copy.per_byte + (slowed ? copy.waiting_per_byte : 0);
  if (op.bytes > 0) per_byte += compute_.added(op.added) / op.bytes;
  if (const ZeroCopyTimes* kernel = zero_copy_.slowing_copies())
    per_byte = std::max(per_byte * kernel->copies_beside, kernel->copy_per_byte[op.to_device]);
  return per_byte;
}

void CopyEngine::update_progress(double now) {
  double per_byte = own_per_byte();
  if (shared_per_byte_ > 0 && shared_per_byte_ > per_byte) per_byte = shared_per_byte_;
  if (now > updated_) {
    remaining_ = std::max(0.0, remaining_ - (now - updated_) / per_byte);
    updated_ = now;
  }
  next_event_ = now + remaining_ * per_byte;
}

}  // namespace shiplap::sim
