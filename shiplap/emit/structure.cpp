#include "shiplap/emit/structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>

namespace shiplap {
namespace {

/// Disjoint sets of the numbers from 0 to count − 1 (union-find).
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t i) {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }
  /// Unites two sets. The smallest number of a set identifies it.
  void join(std::size_t a, std::size_t b) {
    a = of(a), b = of(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

// A text that is equal for corresponding ops of different chunks.
std::string signature(const Schedule& schedule, const Op& op) {
  std::string text =
      fmt::format("{}|{}", op.what.index(), op.stream.is_none() ? "" : stem(schedule.streams[op.stream.index()].name));
  if (const auto* kernel = std::get_if<Kernel>(&op.what)) {
    text += fmt::format("|{}", kernel->kernel.value);
    for (const Access& operand : kernel->operands) text += fmt::format("|{}", operand.region.buffer.value);
    return text;
  }
  for_each_access(op, [&](const Region& region, AccessMode) { text += fmt::format("|{}", region.buffer.value); });
  if (const auto* blocks = std::get_if<BlockCopy>(&op.what))
    text += fmt::format("|{}|{}", blocks->gather ? "gather" : "scatter", to_string(blocks->mover));
  if (const auto* prefetch = std::get_if<Prefetch>(&op.what)) text += prefetch->to.is_gpu() ? "|there" : "|back";
  return text;
}

void find_slots(const Schedule& schedule, bool listed, Structure& s) {
  const auto n = static_cast<std::uint32_t>(schedule.ops.size());
  const bool one_chunk = std::ranges::all_of(schedule.ops, [](const Op& op) { return op.chunk == 0; });
  s.by_agent = !listed && one_chunk && schedule.agents.size() > 1;
  s.keys = 1;
  std::map<std::string, std::size_t> known;
  std::map<std::pair<std::string, std::uint32_t>, int> seen;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Op& op = schedule.ops[i];
    const std::uint32_t key = listed ? 0 : s.by_agent ? op.agent.value : op.chunk;
    std::string name = listed ? std::to_string(i) : signature(schedule, op);
    name += fmt::format("#{}", seen[{name, key}]++);
    const std::size_t slot = known.try_emplace(name, s.slots.size()).first->second;
    if (slot == s.slots.size()) s.slots.emplace_back();
    s.key.push_back(key);
    s.slot.push_back(slot);
    s.keys = std::max(s.keys, key + 1);
  }
  for (Slot& slot : s.slots) slot.ops.resize(s.keys);
  for (std::uint32_t i = 0; i < n; ++i) {
    s.slots[s.slot[i]].ops[s.key[i]] = OpId{i};
    ++s.slots[s.slot[i]].count;
  }
}

// Consecutive ops of one agent whose keys do not decrease.
struct Stretch {
  std::vector<std::uint32_t> ops;
  std::set<std::size_t> slots;
};

std::vector<Stretch> stretches_of(const Structure& s, std::span<const std::uint32_t> ops) {
  std::vector<Stretch> stretches;
  // Whether an earlier stretch has the slots of the current one but not `slot`. Then `slot` belongs to another loop,
  // even where the last round of loops covers a single key.
  const auto apart = [&](std::size_t slot) {
    return std::any_of(stretches.begin(), stretches.end() - 1, [&](const Stretch& earlier) {
      return earlier.slots.contains(*stretches.back().slots.begin()) && !earlier.slots.contains(slot);
    });
  };
  for (const std::uint32_t op : ops) {
    // An op of another slot and a later key starts a new stretch. Stretches that share slots are merged below.
    const bool goes_on = !stretches.empty() && s.key[op] >= s.key[stretches.back().ops.back()] &&
                         (stretches.back().slots.contains(s.slot[op]) ||
                          (s.key[op] == s.key[stretches.back().ops.back()] && !apart(s.slot[op])));
    if (!goes_on) stretches.emplace_back();
    stretches.back().ops.push_back(op);
    stretches.back().slots.insert(s.slot[op]);
  }
  std::vector<Stretch> merged;
  for (Stretch& stretch : stretches) {
    const bool shares =
        !merged.empty() && s.key[merged.back().ops.back()] <= s.key[stretch.ops.front()] &&
        std::ranges::any_of(stretch.slots, [&](std::size_t p) { return merged.back().slots.contains(p); });
    if (!shares) {
      merged.push_back(std::move(stretch));
      continue;
    }
    merged.back().ops.insert(merged.back().ops.end(), stretch.ops.begin(), stretch.ops.end());
    merged.back().slots.insert(stretch.slots.begin(), stretch.slots.end());
  }
  return merged;
}

// The slots of a stage in an order that agrees with the ops of every key; nullopt when there is no such order.
std::optional<std::vector<std::size_t>> in_order(const Structure& s, const std::set<std::size_t>& slots,
                                                 const std::vector<Stretch>& stretches) {
  std::set<std::pair<std::size_t, std::size_t>> before;
  for (const Stretch& stretch : stretches)
    for (std::size_t i = 1; i < stretch.ops.size(); ++i)
      if (s.key[stretch.ops[i - 1]] == s.key[stretch.ops[i]])
        before.emplace(s.slot[stretch.ops[i - 1]], s.slot[stretch.ops[i]]);
  std::vector<std::size_t> order;
  std::set<std::size_t> left = slots;
  while (!left.empty()) {
    const auto next = std::ranges::find_if(left, [&](std::size_t slot) {
      return std::ranges::none_of(left, [&](std::size_t other) { return before.contains({other, slot}); });
    });
    if (next == left.end()) return std::nullopt;
    order.push_back(*next);
    left.erase(next);
  }
  return order;
}

// Whether the loops of the lane make this agent submit exactly these ops in this order.
bool submits(const Structure& s, const Lane& lane, std::uint32_t agent, std::span<const std::uint32_t> ops) {
  std::vector<std::uint32_t> given;
  for (const std::size_t slot : lane.once)
    for (const OpId op : s.slots[slot].ops)
      if (!op.is_none()) given.push_back(op.value);
  for (const Run& run : lane.runs)
    for (std::uint32_t key = run.first + agent; key < run.last; key += lane.agents)
      for (const std::size_t slot : lane.stages[run.stage])
        if (const OpId op = s.slots[slot].ops[key]; !op.is_none()) given.push_back(op.value);
  return std::ranges::equal(given, ops);
}

bool find_loops(const Structure& s, Lane& lane, const std::vector<std::vector<std::uint32_t>>& ops_of) {
  if (lane.agents > 1) {
    // Agent a has the keys a, a + agents and so on, so the loop covers all keys.
    std::vector<Stretch> stretches;
    std::set<std::size_t> all;
    for (std::uint32_t a = 0; a < lane.agents; ++a) {
      stretches.push_back({ops_of[lane.first_agent + a], {}});
      for (const std::uint32_t op : stretches.back().ops) all.insert(s.slot[op]);
    }
    const auto order = in_order(s, all, stretches);
    if (!order) return false;
    lane.stages = {*order};
    lane.runs = {{0, 0, s.keys}};
  } else {
    std::span<const std::uint32_t> ops = ops_of[lane.first_agent];
    while (!ops.empty() && s.slots[s.slot[ops.front()]].count == 1) {
      lane.once.push_back(s.slot[ops.front()]);
      ops = ops.subspan(1);
    }
    const std::vector<Stretch> stretches = stretches_of(s, ops);
    DisjointSets stages(s.slots.size());
    for (const Stretch& stretch : stretches)
      for (const std::size_t slot : stretch.slots) stages.join(*stretch.slots.begin(), slot);
    std::map<std::size_t, std::size_t> number;
    for (const Stretch& stretch : stretches) {
      const std::size_t group = stages.of(*stretch.slots.begin());
      const auto [at, first] = number.try_emplace(group, lane.stages.size());
      if (first) {
        std::set<std::size_t> slots;
        for (const Stretch& other : stretches)
          for (const std::size_t slot : other.slots)
            if (stages.of(slot) == group) slots.insert(slot);
        const auto order = in_order(s, slots, stretches);
        if (!order) return false;
        lane.stages.push_back(*order);
      }
      lane.runs.push_back({at->second, s.key[stretch.ops.front()], s.key[stretch.ops.back()] + 1});
    }
  }
  for (std::uint32_t a = 0; a < lane.agents; ++a)
    if (!submits(s, lane, a, ops_of[lane.first_agent + a])) return false;
  return true;
}

bool find_lanes(const Schedule& schedule, Structure& s) {
  std::vector<std::vector<std::uint32_t>> ops_of(schedule.agents.size());
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) ops_of[schedule.ops[i].agent.index()].push_back(i);
  DisjointSets agents(schedule.agents.size());
  std::vector<std::optional<std::size_t>> first_of(s.slots.size());
  for (std::size_t a = 0; a < ops_of.size(); ++a)
    for (const std::uint32_t op : ops_of[a]) {
      auto& first = first_of[s.slot[op]];
      if (!first) first = a;
      agents.join(*first, a);
    }
  for (std::uint32_t a = 0; a < ops_of.size(); ++a) {
    if (agents.of(a) == a) {
      s.lanes.push_back({.first_agent = a, .agents = 1, .once = {}, .stages = {}, .runs = {}});
    } else if (agents.of(a) == s.lanes.back().first_agent) {
      ++s.lanes.back().agents;
    } else {
      return false;
    }
  }
  return std::ranges::all_of(s.lanes, [&](Lane& lane) { return find_loops(s, lane, ops_of); });
}

// Whether the loops are regular enough to be easier to read than the list of ops.
bool is_readable(const Structure& s) {
  for (const Lane& lane : s.lanes) {
    const std::size_t stages = lane.stages.size();
    for (std::size_t i = 0; i < lane.runs.size(); ++i) {
      const Run& run = lane.runs[i];
      const Run& first_of_round = lane.runs[i - i % stages];
      const bool in_rotation =
          run.stage == i % stages && run.first == first_of_round.first && run.last == first_of_round.last;
      const bool in_steps = i < stages ? run.first == lane.runs.front().first
                                       : run.first == lane.runs[i - stages].last &&
                                             run.last - run.first <= lane.runs.front().last - lane.runs.front().first;
      const bool full =
          i + stages >= lane.runs.size() || run.last - run.first == lane.runs.front().last - lane.runs.front().first;
      if (!in_rotation || !in_steps || !full) return false;
    }
    if (stages > 0 && lane.runs.size() % stages != 0) return false;
  }
  return true;
}

}  // namespace

std::string stem(const std::string& name) {
  const auto last = name.find_last_not_of("0123456789");
  if (last == std::string::npos || last + 1 == name.size()) return name;
  return name.substr(0, name.find_last_not_of(' ', last) + 1);
}

Structure structure(const Schedule& schedule) {
  Structure found;
  find_slots(schedule, false, found);
  if (find_lanes(schedule, found) && is_readable(found)) return found;
  Structure listed;
  find_slots(schedule, true, listed);
  find_lanes(schedule, listed);
  return listed;
}

}  // namespace shiplap
