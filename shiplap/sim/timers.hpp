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
    if (first_in_order_ == in_order_.size() || !(in_order_.back() > timer))
      in_order_.push_back(timer);
    else
      others_.push(timer);
    next_event_ = first().time;
  }
  OpIndex advance() override {
    const Timer timer = first();
    if (is_in_order())
      ++first_in_order_;
    else
      others_.pop();
    next_event_ = is_empty() ? never : first().time;
    return due_(timer);
  }

 private:
  bool is_empty() const { return first_in_order_ == in_order_.size() && others_.empty(); }
  /// Whether the first of all timers is in `in_order_`.
  bool is_in_order() const {
    if (first_in_order_ == in_order_.size()) return false;
    return others_.empty() || others_.top() > in_order_[first_in_order_];
  }
  const Timer& first() const { return is_in_order() ? in_order_[first_in_order_] : others_.top(); }

  Due due_;
  /// Calls of an agent are set in the order of their times, and a long schedule has hundreds of thousands of them. They
  /// need no heap. Timers before `first_in_order_` have been performed.
  std::vector<Timer> in_order_;
  std::size_t first_in_order_ = 0;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> others_;
};

}  // namespace shiplap::sim
