// Dependencies between ops of different streams, without those that the order of the streams already implies.
#pragma once

#include <map>
#include <utility>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Adds dependencies to ops in the order in which the ops enter the schedule. For each pair of streams it remembers the
/// last op of the first stream for which the second has waited.
class StreamWaits {
 public:
  /// Keeps a reference to the schedule.
  explicit StreamWaits(const Schedule& schedule) : schedule_(schedule) {}

  /// Makes `op`, the next op of its stream, wait for `on`. It adds nothing when `on` is none or in the same stream, or
  /// when the stream of `op` has already waited for `on` or for a later op of the stream of `on`.
  void add(Op& op, OpId on);
  /// Moves the dependencies of `from` to `to`. Among dependencies on ops of the same stream only the last one is kept.
  void move(Op& from, Op& to) const;

 private:
  StreamId stream_of(OpId op) const { return schedule_.ops[op.index()].stream; }

  const Schedule& schedule_;
  std::map<std::pair<StreamId, StreamId>, OpId> waited_;  // key: the waiting stream and the stream that it waited for
};

}  // namespace shiplap
