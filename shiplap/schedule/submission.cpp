#include "shiplap/schedule/submission.hpp"

#include <algorithm>
#include <unordered_map>

namespace shiplap {
namespace {

// For each op the earlier ops whose events it has to wait for: at most one per queue, and none that is already implied.
std::vector<std::vector<OpId>> needed_waits(const Schedule& schedule) {
  const std::size_t n = schedule.ops.size();
  std::vector<std::vector<OpId>> waits(n);
  // Latest op of queue `from` that `queue` has waited for, by (queue, from).
  std::unordered_map<std::uint64_t, std::uint32_t> waited;
  for (std::size_t i = 0; i < n; ++i) {
    const Op& op = schedule.ops[i];
    std::vector<OpId> after = op.after;
    std::sort(after.begin(), after.end(),
              [](OpId a, OpId b) { return a > b; });  // the latest of a queue covers the others
    for (OpId dependency : after) {
      const QueueId from = schedule.ops[dependency.index()].queue;
      if (from.is_none() || from == op.queue) continue;
      const std::uint64_t key = (std::uint64_t{op.queue.value} << 32) | from.value;
      const auto [seen, first] = waited.try_emplace(key, dependency.value);
      if (!first && seen->second >= dependency.value) continue;
      seen->second = dependency.value;
      waits[i].push_back(dependency);
    }
  }
  return waits;
}

}  // namespace

Submission submission(const Schedule& schedule) {
  const std::size_t n = schedule.ops.size();
  const auto waits = needed_waits(schedule);

  std::vector<bool> recorded(n, false);
  for (const auto& list : waits)
    for (OpId op : list) recorded[op.index()] = true;
  std::vector<OpId> last_of_queue(schedule.queues.size());
  for (std::size_t i = 0; i < n; ++i)
    if (!schedule.ops[i].queue.is_none())
      last_of_queue[schedule.ops[i].queue.index()] = OpId{static_cast<std::uint32_t>(i)};

  Submission result;
  result.agents.resize(schedule.agents.size());
  std::vector<EventId> event_of(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Op& op = schedule.ops[i];
    const OpId id{static_cast<std::uint32_t>(i)};
    auto& steps = result.agents[op.agent.index()];
    for (OpId dependency : waits[i])
      steps.push_back({.kind = Step::Kind::wait, .queue = op.queue, .op = id, .event = event_of[dependency.index()]});
    steps.push_back({.kind = Step::Kind::submit, .queue = op.queue, .op = id, .event = {}});
    if (recorded[i]) {
      event_of[i] = EventId{result.events++};
      steps.push_back({.kind = Step::Kind::record, .queue = op.queue, .op = id, .event = event_of[i]});
    } else if (!op.queue.is_none() && last_of_queue[op.queue.index()] == id) {
      steps.push_back({.kind = Step::Kind::finish, .queue = op.queue, .op = id, .event = {}});
    }
  }
  return result;
}

}  // namespace shiplap
