// Dependencies between ops of different queues, without those that the order of the queues already implies.
#pragma once

#include <map>
#include <utility>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Adds dependencies to ops in the order in which the ops enter the schedule. It remembers for each pair of queues up
/// to which op the one queue has waited for the other.
class QueueWaits {
 public:
  /// Keeps a reference to the schedule.
  explicit QueueWaits(const Schedule& schedule) : schedule_(schedule) {}

  /// Makes `op`, the next op of its queue, wait for `on`. It adds nothing when `on` is none, when `on` is in the same
  /// queue, or when an op of that queue has already waited for `on` or for a later op of the queue of `on`.
  void add(Op& op, OpId on);
  /// Moves the dependencies of `from` to `to`. Of several ops of the same queue only the last one is kept.
  void move(Op& from, Op& to) const;

 private:
  QueueId queue_of(OpId op) const { return schedule_.ops[op.index()].queue; }

  const Schedule& schedule_;
  std::map<std::pair<QueueId, QueueId>, OpId> waited_;  // by the queue that waits and the queue that it waits for
};

}  // namespace shiplap
