#include "shiplap/sim/host_threads.hpp"

#include <algorithm>

namespace shiplap::sim {

void HostThreads::start(OpIndex op, double bytes, double now) {
  update_progress(now);
  active_.push_back({op, bytes});
  update_progress(now);
}

OpIndex HostThreads::advance() {
  const double now = next_event_;
  const auto first = std::ranges::min_element(active_, {}, &Work::remaining);
  const OpIndex op = first->op;
  update_progress(now);
  active_.erase(first);
  update_progress(now);
  return op;
}

// Subtracts the bytes that have moved since the last update, and sets the next end by the rate of the active threads.
void HostThreads::update_progress(double now) {
  for (Work& work : active_) work.remaining = std::max(0.0, work.remaining - (now - updated_) * rate_per_thread_);
  updated_ = now;
  if (active_.empty()) {
    next_event_ = never;
    return;
  }
  const auto threads = active_.size();
  rate_per_thread_ = rate_(threads) / static_cast<double>(threads);
  next_event_ = now + std::ranges::min_element(active_, {}, &Work::remaining)->remaining / rate_per_thread_;
}

}  // namespace shiplap::sim
