#include "shiplap/strategy/queue_waits.hpp"

#include <algorithm>

namespace shiplap {

void QueueWaits::add(Op& op, OpId on) {
  if (on.is_none()) return;
  const QueueId from = queue_of(on);
  if (from == op.queue) return;
  const auto [waited, first] = waited_.try_emplace({op.queue, from}, on);
  if (!first && waited->second >= on) return;
  waited->second = on;
  std::erase_if(op.after, [&](OpId other) { return queue_of(other) == from; });
  op.after.push_back(on);
}

void QueueWaits::move(Op& from, Op& to) const {
  for (const OpId on : from.after) {
    const auto same = std::ranges::find_if(to.after, [&](OpId known) { return queue_of(known) == queue_of(on); });
    if (same == to.after.end())
      to.after.push_back(on);
    else
      *same = std::max(*same, on);
  }
  from.after.clear();
}

}  // namespace shiplap
