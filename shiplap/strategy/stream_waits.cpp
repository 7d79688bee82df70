#include "shiplap/strategy/stream_waits.hpp"

#include <algorithm>

namespace shiplap {

void StreamWaits::add(Op& op, OpId on) {
  if (on.is_none()) return;
  const StreamId from = stream_of(on);
  if (from == op.stream) return;
  const auto [waited, first] = waited_.try_emplace({op.stream, from}, on);
  if (!first && waited->second >= on) return;
  waited->second = on;
  std::erase_if(op.after, [&](OpId other) { return stream_of(other) == from; });
  op.after.push_back(on);
}

void StreamWaits::move(Op& from, Op& to) const {
  for (const OpId on : from.after) {
    const auto same = std::ranges::find_if(to.after, [&](OpId known) { return stream_of(known) == stream_of(on); });
    if (same == to.after.end())
      to.after.push_back(on);
    else
      *same = std::max(*same, on);
  }
  from.after.clear();
}

}  // namespace shiplap
