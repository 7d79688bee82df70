#include "shiplap/sim/host_threads.hpp"

#include <algorithm>

namespace shiplap::sim {

void HostThreads::start(OpIndex op, double bytes, double now) {
  settle(now);
  at_work_.push_back({op, bytes});
  settle(now);
}

OpIndex HostThreads::advance() {
  const double now = next_event_;
  const auto first = std::ranges::min_element(at_work_, {}, &Work::remaining);
  const OpIndex op = first->op;
  settle(now);
  at_work_.erase(first);
  settle(now);
  return op;
}

// Accounts for what has moved, and foresees the next end at the rate of as many threads as there are now.
void HostThreads::settle(double now) {
  for (Work& work : at_work_) work.remaining = std::max(0.0, work.remaining - (now - updated_) * each_);
  updated_ = now;
  if (at_work_.empty()) {
    next_event_ = never;
    return;
  }
  const auto threads = at_work_.size();
  each_ = rate_(threads) / static_cast<double>(threads);
  next_event_ = now + std::ranges::min_element(at_work_, {}, &Work::remaining)->remaining / each_;
}

}  // namespace shiplap::sim
