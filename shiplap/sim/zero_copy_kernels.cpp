#include "shiplap/sim/zero_copy_kernels.hpp"

#include <algorithm>

#include "shiplap/sim/compute.hpp"
#include "shiplap/sim/copy_engine.hpp"
#include "shiplap/sim/kernel_order.hpp"
#include "shiplap/sim/link.hpp"

namespace shiplap::sim {

void ZeroCopyKernels::arrive(OpIndex op, double now) {
  waiting_.push_back(op);
  start_next(now);
}

void ZeroCopyKernels::start_next(double now) {
  if (current_ != no_op || waiting_.empty()) return;
  current_ = waiting_.front();
  waiting_.pop_front();
  waits_for_sms_ = true;
  const double wait = compute_.wait_for_sms(ops_[current_].zero_copy->added);
  if (wait <= 0) return begin(now);
  next_event_ = now + wait;
  set_slowing(nullptr, now);
}

void ZeroCopyKernels::begin(double now) {
  set_slowing(ops_[current_].zero_copy, now);
  waits_for_sms_ = false;
  remaining_ = 1;
  updated_ = now;
  shared_duration_ = 0;
  update_progress(now);
  link_.tell_others(now);
  kernels_.first_blocks_started(current_, now);
  kernels_.last_blocks_started(current_, now);
}

void ZeroCopyKernels::kernels_changed(double now) {
  if (waits_for_sms_ && !compute_.is_busy()) begin(now);
}

void ZeroCopyKernels::set_slowing(const ZeroCopyTimes* times, double now) {
  if (slowing_copies_ == times) return;
  link_.update_progress(now);
  slowing_copies_ = times;
  compute_.set_slowdown(Compute::By::mover_kernel, times != nullptr ? times->slows : KernelSlowdown{}, now);
  link_.update_progress(now);
}

OpIndex ZeroCopyKernels::advance() {
  const double now = next_event_;
  ended_ = no_op;
  if (waits_for_sms_) {
    begin(now);
    return no_op;
  }
  link_.update_progress(now);
  ended_ = current_;
  current_ = no_op;
  next_event_ = never;
  link_.tell_others(now);
  return ended_;
}

void ZeroCopyKernels::after_event(double now) {
  if (ended_ == no_op) return;
  // Copies are assumed to be slowed down also in the short gap between two zero-copy kernels of a stream.
  const OpIndex after = ops_[ended_].stream_after;
  const bool another_follows = after != no_op && ops_[after].zero_copy != nullptr && ops_[after].pending == 0;
  if (!another_follows && waiting_.empty()) set_slowing(nullptr, now);
  start_next(now);
}

double ZeroCopyKernels::own_duration() const {
  const ZeroCopyTimes& times = *ops_[current_].zero_copy;
  const auto beside = [&](bool to_device) {
    return h2d_.moves(to_device) || d2h_.moves(to_device) ? times.beside[to_device] : 0.0;
  };
  const double beside_copies = std::max(beside(true), beside(false));
  return (beside_copies > 0 ? beside_copies : times.alone) + compute_.added(times.added);
}

void ZeroCopyKernels::update_progress(double now) {
  if (now > updated_) {
    // The rate did not change since the last update, so `next_event_` was the end at that rate.
    const double left = next_event_ - updated_;
    remaining_ *= left > 0 ? std::max(0.0, (next_event_ - now) / left) : 0.0;
    updated_ = now;
  }
  double duration = own_duration();
  if (shared_duration_ > 0 && shared_duration_ > duration) duration = shared_duration_;
  next_event_ = now + remaining_ * duration;
}

}  // namespace shiplap::sim
