#include "shiplap/schedule/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace shiplap {
namespace {

// An op before another op, and the reason for the order.
struct Edge {
  std::uint32_t before;
  enum class Kind : std::uint8_t { dependency, stream, agent } kind;
};

// The ops before each op. Ids that do not exist and dependencies of an op on itself are left out, because they are
// reported separately.
std::vector<std::vector<Edge>> all_edges(const Schedule& schedule) {
  std::vector<std::vector<Edge>> edges(schedule.ops.size());
  std::vector<OpId> last_of_stream(schedule.streams.size());
  std::vector<OpId> last_of_agent(schedule.agents.size());
  const auto follow = [&](std::vector<OpId>& last, std::size_t index, std::size_t op, Edge::Kind kind) {
    if (index >= last.size()) return;
    if (!last[index].is_none()) edges[op].push_back({last[index].value, kind});
    last[index] = OpId{static_cast<std::uint32_t>(op)};
  };
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const Op& op = schedule.ops[i];
    for (OpId dependency : op.after)
      if (dependency.index() < schedule.ops.size() && dependency.index() != i)
        edges[i].push_back({dependency.value, Edge::Kind::dependency});
    follow(last_of_stream, op.stream.index(), i, Edge::Kind::stream);
    follow(last_of_agent, op.agent.index(), i, Edge::Kind::agent);
  }
  return edges;
}

// The two ops of one edge of a cycle, the earlier one first. Returns nullopt when there is no cycle. The depth-first
// search has a stack of its own, because paths in schedules can be too long for the call stack.
std::optional<std::pair<std::uint32_t, std::uint32_t>> edge_on_cycle(const std::vector<std::vector<Edge>>& edges) {
  enum class Mark : std::uint8_t { fresh, open, done };
  std::vector<Mark> marks(edges.size(), Mark::fresh);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack;
  for (std::uint32_t root = 0; root < edges.size(); ++root) {
    if (marks[root] != Mark::fresh) continue;
    marks[root] = Mark::open;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      const std::uint32_t op = stack.back().first;
      const std::size_t next = stack.back().second++;
      if (next == edges[op].size()) {
        marks[op] = Mark::done;
        stack.pop_back();
        continue;
      }
      const std::uint32_t before = edges[op][next].before;
      if (marks[before] == Mark::open) return std::pair{before, op};
      if (marks[before] == Mark::done) continue;
      marks[before] = Mark::open;
      stack.emplace_back(before, 0);
    }
  }
  return std::nullopt;
}

// The shortest path from `op` back along edges to `goal`: each op with the edge to the next one.
std::vector<std::pair<std::uint32_t, Edge>> shortest_path(const std::vector<std::vector<Edge>>& edges, std::uint32_t op,
                                                          std::uint32_t goal) {
  std::vector<bool> seen(edges.size(), false);
  struct Step {
    std::uint32_t op;
    std::size_t from;  // index in `steps` of the step before
    Edge::Kind kind;
  };
  std::vector<Step> steps{{op, 0, Edge::Kind::dependency}};
  seen[op] = true;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].op == goal) {
      std::vector<std::pair<std::uint32_t, Edge>> path;
      for (std::size_t at = i; at != 0; at = steps[at].from)
        path.push_back({steps[steps[at].from].op, Edge{steps[at].op, steps[at].kind}});
      std::reverse(path.begin(), path.end());
      return path;
    }
    for (const Edge& edge : edges[steps[i].op]) {
      if (seen[edge.before]) continue;
      seen[edge.before] = true;
      steps.push_back({edge.before, i, edge.kind});
    }
  }
  return {};
}

// Returns a sentence that names the ops of one cycle, or nullopt when there is no cycle.
std::optional<std::string> cycle_problem(const Schedule& schedule) {
  const auto edges = all_edges(schedule);
  const auto closing = edge_on_cycle(edges);
  if (!closing) return std::nullopt;
  const auto [before, after] = *closing;
  auto cycle = shortest_path(edges, before, after);
  for (const Edge& edge : edges[after])
    if (edge.before == before) {
      cycle.push_back({after, edge});
      break;
    }
  constexpr std::size_t most_named = 8;
  std::string text = describe(schedule, OpId{cycle.front().first});
  for (std::size_t i = 0; i < cycle.size() && i < most_named; ++i) {
    const Edge& edge = cycle[i].second;
    const Op& op = schedule.ops[cycle[i].first];
    const std::string why = edge.kind == Edge::Kind::dependency ? "waits for"
                            : edge.kind == Edge::Kind::stream
                                ? fmt::format("comes in stream {} after", schedule.streams[op.stream.index()].name)
                                : fmt::format("is submitted by {} after", schedule.agents[op.agent.index()].name);
    text += fmt::format("{} {} {}", i == 0 ? "" : ", which", why, describe(schedule, OpId{edge.before}));
  }
  if (cycle.size() > most_named) text += fmt::format(", and so on over {} ops", cycle.size());
  return "the ops wait for each other in a cycle: " + text;
}

}  // namespace

std::vector<std::string> order_problems(const Schedule& schedule, std::size_t limit) {
  std::vector<std::string> found;
  const std::size_t n = schedule.ops.size();
  bool cycle_sought = false;
  for (std::uint32_t i = 0; i < n; ++i)
    for (OpId dependency : schedule.ops[i].after) {
      if (found.size() >= limit) return found;
      if (dependency.value < i) continue;
      const std::string name = describe(schedule, OpId{i});
      if (dependency.index() >= n) {
        found.push_back(fmt::format("{} waits for op {}, but the schedule has {} ops", name, dependency.value, n));
      } else if (dependency.value == i) {
        found.push_back(fmt::format("{} waits for itself; remove that dependency", name));
      } else {
        // Stream order and agent order never point to a later op, so every cycle has a dependency on a later op.
        if (!std::exchange(cycle_sought, true))
          if (auto cycle = cycle_problem(schedule)) found.push_back(*std::move(cycle));
        if (found.size() >= limit) return found;
        found.push_back(fmt::format("{} waits for {}, which is submitted later; an op may only wait for earlier ones",
                                    name, describe(schedule, dependency)));
      }
    }
  return found;
}

}  // namespace shiplap
