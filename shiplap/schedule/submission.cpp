#include "shiplap/schedule/submission.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace shiplap {
namespace {

// The ops that an op waits for explicitly, because neither the order of its stream nor that of its agent implies the
// wait.
struct Waits {
  std::vector<OpId> agents;  // ops of other agents that must have been submitted or performed
  std::vector<OpId> events;  // ops of other streams that must have ended, at most one per stream
};

class Waiting {
 public:
  explicit Waiting(const Schedule& schedule) : schedule_(schedule), last_of_stream_(schedule.streams.size()) {}

  /// The waits of an op. Must be called for every op in the order of the schedule.
  Waits of(OpId id) {
    const Op& op = schedule_.ops[id.index()];
    Waits waits;
    if (!op.stream.is_none()) {
      OpId& last = last_of_stream_[op.stream.index()];
      if (!last.is_none() && schedule_.ops[last.index()].agent != op.agent) await(waits, op.agent, last);
      last = id;
    }
    std::vector<OpId> after = op.after;
    std::sort(after.begin(), after.end(), std::greater<>());  // latest first: a wait for it implies earlier ones
    for (const OpId dependency : after) {
      const Op& before = schedule_.ops[dependency.index()];
      if (before.agent != op.agent) await(waits, op.agent, dependency);
      if (before.stream.is_none() || before.stream == op.stream) continue;
      // An op that an agent performs itself waits in the agent. Any other op waits in its stream.
      auto& waited = op.stream.is_none() ? waited_by_agent_ : waited_by_stream_;
      const std::uint32_t waiter = op.stream.is_none() ? op.agent.value : op.stream.value;
      if (newer(waited, waiter, before.stream.value, dependency)) waits.events.push_back(dependency);
    }
    return waits;
  }

 private:
  using Latest = std::unordered_map<std::uint64_t, OpId>;

  static bool newer(Latest& latest, std::uint32_t waiter, std::uint32_t of, OpId op) {
    const auto [seen, first] = latest.try_emplace(std::uint64_t{waiter} << 32 | of, op);
    if (!first && seen->second >= op) return false;
    seen->second = op;
    return true;
  }
  void await(Waits& waits, AgentId waiter, OpId op) {
    op = first_of_batch(schedule_, op);
    const AgentId other = schedule_.ops[op.index()].agent;
    if (newer(awaited_, waiter.value, other.value, op)) waits.agents.push_back(op);
  }

  const Schedule& schedule_;
  std::vector<OpId> last_of_stream_;
  // The latest op that was waited for, by the waiting stream or agent and the stream or agent of that op.
  Latest waited_by_stream_;
  Latest waited_by_agent_;
  Latest awaited_;
};

}  // namespace

Submission submission(const Schedule& schedule) {
  const auto n = static_cast<std::uint32_t>(schedule.ops.size());
  Waiting waiting(schedule);
  std::vector<Waits> waits;
  std::vector<bool> recorded(n, false);
  std::vector<bool> joined(n, false);  // another stream waits for the end of the op
  std::vector<OpId> last_of_stream(schedule.streams.size());
  waits.reserve(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    waits.push_back(waiting.of(OpId{i}));
    const StreamId stream = schedule.ops[i].stream;
    for (const OpId op : waits.back().events) {
      recorded[op.index()] = true;
      if (!stream.is_none()) joined[op.index()] = true;
    }
    if (!stream.is_none()) last_of_stream[stream.index()] = OpId{i};
  }

  Submission result;
  result.agents.resize(schedule.agents.size());
  if (result.agents.size() == 1)
    result.agents.front().reserve(3 * std::size_t{n});  // each op has at most about three steps
  std::vector<EventId> event_of(n);
  for (std::uint32_t i = 0, batch = 1; i < n; i += batch) {
    batch = 1;
    while (i + batch < n && schedule.ops[i + batch].batched) ++batch;
    const Op& op = schedule.ops[i];
    const OpId id{i};
    auto& steps = result.agents[op.agent.index()];
    for (const OpId awaited : waits[i].agents)
      steps.push_back({.kind = SubmissionStep::Kind::await, .stream = {}, .op = id, .event = {}, .awaited = awaited});
    for (const OpId dependency : waits[i].events)
      steps.push_back({.kind = op.stream.is_none() ? SubmissionStep::Kind::synchronize : SubmissionStep::Kind::wait,
                       .stream = op.stream,
                       .op = id,
                       .event = event_of[dependency.index()],
                       .awaited = dependency});
    steps.push_back({.kind = SubmissionStep::Kind::submit, .stream = op.stream, .op = id, .event = {}, .batch = batch});
    // One event is recorded after all copies of a batch.
    EventId event;
    bool ends = false;
    for (std::uint32_t k = i; k < i + batch; ++k) {
      if (recorded[k] && event.is_none()) event = EventId{result.events++};
      if (recorded[k]) event_of[k] = event;
      ends = ends || (!joined[k] && !op.stream.is_none() && last_of_stream[op.stream.index()] == OpId{k});
    }
    if (!event.is_none())
      steps.push_back({.kind = SubmissionStep::Kind::record, .stream = op.stream, .op = id, .event = event});
    if (ends) steps.push_back({.kind = SubmissionStep::Kind::finish, .stream = op.stream, .op = id, .event = {}});
  }
  return result;
}

}  // namespace shiplap
