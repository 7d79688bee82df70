#include "shiplap/sim/host_threads.hpp"

#include <algorithm>
#include <limits>

namespace shiplap::sim {

const double HostThreads::never = std::numeric_limits<double>::infinity();

void HostThreads::start(std::uint32_t op, double bytes, double now, const Rate& rate) {
  settle(now, rate);
  at_work_.push_back({op, bytes});
  settle(now, rate);
}

std::uint32_t HostThreads::retire(const Rate& rate) {
  const double now = next_;
  const auto first = std::ranges::min_element(at_work_, {}, &Work::remaining);
  const std::uint32_t op = first->op;
  settle(now, rate);
  at_work_.erase(first);
  settle(now, rate);
  return op;
}

// Accounts for what has moved, and foresees the next end at the rate of as many threads as there are now.
void HostThreads::settle(double now, const Rate& rate) {
  for (Work& work : at_work_) work.remaining = std::max(0.0, work.remaining - (now - updated_) * each_);
  updated_ = now;
  if (at_work_.empty()) {
    next_ = never;
    return;
  }
  const auto threads = at_work_.size();
  each_ = rate(threads) / static_cast<double>(threads);
  next_ = now + std::ranges::min_element(at_work_, {}, &Work::remaining)->remaining / each_;
}

}  // namespace shiplap::sim
