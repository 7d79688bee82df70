#include "shiplap/sim/zero_copy_kernels.hpp"

#include <algorithm>

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
  link_.settle(now);
  current_ = waiting_.front();
  waiting_.pop_front();
  felt_ = ops_[current_].zero_copy;
  remaining_ = 1;
  updated_ = now;
  link_.settle(now);
  kernels_.first_blocks_started(current_, now);
  kernels_.last_blocks_started(current_, now);
}

OpIndex ZeroCopyKernels::advance() {
  link_.settle(next_event_);
  ended_ = current_;
  current_ = no_op;
  next_event_ = never;
  return ended_;
}

void ZeroCopyKernels::go_on(double now) {
  // In the short gap between two such kernels of a stream, copies are assumed to be as slow as beside them.
  const OpIndex after = ops_[ended_].stream_after;
  const bool another_follows = after != no_op && ops_[after].zero_copy != nullptr && ops_[after].pending == 0;
  if (!another_follows && waiting_.empty()) {
    felt_ = nullptr;
    link_.settle(now);
  }
  start_next(now);
}

void ZeroCopyKernels::settle(double now) {
  if (now > updated_) {
    // The rate that held until now was foreseen by the last update.
    const double left = next_event_ - updated_;
    remaining_ *= left > 0 ? std::max(0.0, (next_event_ - now) / left) : 0.0;
    updated_ = now;
  }
  const ZeroCopyTimes& times = *ops_[current_].zero_copy;
  const auto beside = [&](bool to_device) {
    return h2d_.moves(to_device) || d2h_.moves(to_device) ? times.beside[to_device] : 0.0;
  };
  const double duration = std::max(beside(true), beside(false));
  next_event_ = now + remaining_ * (duration > 0 ? duration : times.alone);
}

}  // namespace shiplap::sim
