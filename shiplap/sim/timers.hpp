// Events of ops that belong to no other resource: calls that return and delays that pass.
#pragma once

#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "shiplap/sim/resource.hpp"

namespace shiplap::sim {

/// What happens to an op when its timer is due.
enum class Moment : std::uint8_t { queued, ready, kernel_arrives, host_starts, host_ends };

struct Timer {
  double time = 0;
  OpIndex op = 0;
  Moment moment = Moment::queued;
  friend bool operator>(const Timer& a, const Timer& b) {
    if (a.time != b.time) return a.time > b.time;
    if (a.op != b.op) return a.op > b.op;
    return a.moment > b.moment;
  }
};

/// Performs timers in the order of their times. At equal times the earlier op comes first.
class Timers final : public Resource {
 public:
  /// Called when a timer is due. Returns the op that ended with it, or `no_op`.
  using Due = std::function<OpIndex(const Timer&)>;

  explicit Timers(Due due) : due_(std::move(due)) {}

  void set(const Timer& timer) {
    timers_.push(timer);
    next_event_ = timers_.top().time;
  }
  OpIndex advance() override {
    const Timer timer = timers_.top();
    timers_.pop();
    next_event_ = timers_.empty() ? never : timers_.top().time;
    return due_(timer);
  }

 private:
  Due due_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
};

}  // namespace shiplap::sim
