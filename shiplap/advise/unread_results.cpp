#include "shiplap/advise/unread_results.hpp"

#include <algorithm>
#include <utility>

namespace shiplap {

bool brings_results(const StepOp& op) { return op.copies_to_host || (op.kind == StepOp::Kind::copy && !op.to_device); }

UnreadResults::UnreadResults(const ProgramStep& step) : step_(step), before_in_stream_(2 * step.ops.size()) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Position> last;  // by GPU and stream
  for (Position at = 0; at < before_in_stream_.size(); ++at) {
    const StepOp& op = op_at(at);
    if (op.kind == StepOp::Kind::wait) continue;
    const auto [entry, is_first] = last.try_emplace({op.gpu, op.stream}, at);
    if (!is_first) before_in_stream_[at] = std::exchange(entry->second, at);
  }
  for (Position at = 0; at < step.ops.size(); ++at) perform_at(at);
}

const StepOp& UnreadResults::op_at(Position at) const { return step_.ops[at % step_.ops.size()]; }

std::optional<UnreadResults::Position> UnreadResults::earlier(Position of, const EarlierOp& e) const {
  const Position of_step = of - of % step_.ops.size();
  const Position back = std::size_t{e.steps} * step_.ops.size();
  if (back > of_step || of_step - back + e.op >= of) return std::nullopt;
  return of_step - back + e.op;
}

std::vector<UnreadResults::Position> UnreadResults::awaited_by(Position wait) const {
  std::vector<Position> awaited;
  for (const EarlierOp& e : op_at(wait).after)
    if (const auto at = earlier(wait, e)) awaited.push_back(*at);
  return awaited;
}

std::set<UnreadResults::Position> UnreadResults::ended_with(const std::vector<Position>& ops,
                                                            std::uint32_t thread) const {
  const auto known = ended_.find(thread);
  std::set<Position> all;
  std::vector<Position> next = ops;
  while (!next.empty()) {
    const Position at = next.back();
    next.pop_back();
    if (known != ended_.end() && known->second.contains(at)) continue;
    if (!all.insert(at).second) continue;
    if (before_in_stream_[at]) next.push_back(*before_in_stream_[at]);
    const std::vector<Position> awaited = awaited_by(at);
    next.insert(next.end(), awaited.begin(), awaited.end());
  }
  return all;
}

bool UnreadResults::are_awaited_by(std::size_t wait) const {
  const std::set<Position> ended = ended_with(awaited_by(step_.ops.size() + wait), step_.ops[wait].thread);
  return std::ranges::any_of(ended, [this](Position at) { return brings_results(op_at(at)); });
}

void UnreadResults::perform(std::size_t op) { perform_at(step_.ops.size() + op); }

void UnreadResults::perform_at(Position at) {
  const StepOp& op = op_at(at);
  const bool waits = op.kind == StepOp::Kind::wait || (brings_results(op) && op.blocks);
  if (brings_results(op)) unread_.insert(at);
  if (!waits) return;
  for (const Position ended : ended_with(op.kind == StepOp::Kind::wait ? awaited_by(at) : std::vector{at}, op.thread)) {
    ended_[op.thread].insert(ended);
    unread_.erase(ended);
  }
}

}  // namespace shiplap
