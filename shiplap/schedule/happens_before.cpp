#include "shiplap/schedule/happens_before.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace shiplap {

HappensBefore::HappensBefore(const Schedule& schedule)
    : schedule_(schedule),
      positions_(schedule.ops.size()),
      previous_(schedule.ops.size()),
      last_use_(schedule.ops.size()),
      clocks_(schedule.ops.size()) {
  std::map<std::pair<bool, std::uint32_t>, std::uint32_t> lanes;
  std::vector<OpId> last;
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) {
    const Op& op = schedule.ops[i];
    const bool by_agent = op.stream.is_none();
    const std::pair key{by_agent, by_agent ? op.agent.value : op.stream.value};
    const std::uint32_t lane = lanes.try_emplace(key, static_cast<std::uint32_t>(lanes.size())).first->second;
    last.resize(lanes.size());
    previous_[i] = std::exchange(last[lane], OpId{i});
    const std::uint32_t behind = previous_[i].is_none() ? 0 : positions_[previous_[i].index()].position;
    positions_[i] = {.lane = lane, .position = behind + 1};
    if (!previous_[i].is_none()) last_use_[previous_[i].index()] = OpId{i};
    for (OpId dependency : op.after) last_use_[last_of_batch(schedule, dependency).index()] = OpId{i};
  }
  lanes_ = last.size();
}

void HappensBefore::visit(OpId op) {
  const OpId previous = previous_[op.index()];
  Clock& clock = clocks_[op.index()];
  if (previous.is_none()) {
    clock.assign(lanes_, 0);
  } else {
    Clock& other = clocks_[previous.index()];
    if (last_use_[previous.index()] == op)
      clock = std::move(other);
    else
      clock = other;
    include(clock, previous);
  }
  const auto& after = schedule_.ops[op.index()].after;
  for (OpId copy : after) {
    const OpId dependency = last_of_batch(schedule_, copy);
    // The clock of `previous` may have been moved to `clock`. It is empty then and adds nothing.
    const Clock& other = clocks_[dependency.index()];
    for (std::size_t lane = 0; lane < other.size(); ++lane) clock[lane] = std::max(clock[lane], other[lane]);
    include(clock, dependency);
  }
  for (OpId copy : after)
    if (const OpId dependency = last_of_batch(schedule_, copy); last_use_[dependency.index()] == op)
      Clock().swap(clocks_[dependency.index()]);
}

void HappensBefore::add(OpId op, OpId earlier) {
  const OpId dependency = last_of_batch(schedule_, earlier);
  Clock& clock = clocks_[op.index()];
  // The clock of the dependency may have been freed. Only the dependency itself is added then, so that a later check
  // may report ordered ops as unordered but never the reverse.
  const Clock& other = clocks_[dependency.index()];
  for (std::size_t lane = 0; lane < other.size(); ++lane) clock[lane] = std::max(clock[lane], other[lane]);
  include(clock, dependency);
}

void HappensBefore::include(Clock& clock, OpId op) const {
  const LanePosition& at = positions_[op.index()];
  clock[at.lane] = std::max(clock[at.lane], at.position);
}

}  // namespace shiplap
