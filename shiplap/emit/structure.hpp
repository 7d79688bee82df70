// What repeats in a schedule: the ops of a chunk as slots, and the loops over chunks in which host threads submit them.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Ops that are the same but for their regions: "the copy of x to the GPU" of every chunk that has one.
struct Slot {
  std::vector<OpId> ops;  ///< by key; none where there is none
  std::uint32_t count = 0;
};

/// One loop over the keys [first, last): for each the ops of a stage's slots, in their order.
struct Run {
  std::size_t stage = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  friend bool operator==(const Run&, const Run&) = default;
};

/// What some agents do: one agent all runs, or several agents in turn the keys of the only run.
struct Lane {
  std::uint32_t first_agent = 0;
  std::uint32_t agents = 1;
  std::vector<std::size_t> once;                 ///< slots of one op each, before the runs
  std::vector<std::vector<std::size_t>> stages;  ///< their slots in order
  std::vector<Run> runs;
};

/// Every op is a slot's op of a key; lanes and runs give all ops of each agent in the order of the schedule.
struct Structure {
  std::uint32_t keys = 1;
  bool by_agent = false;           ///< a key is the number of an agent, not of a chunk
  std::vector<std::uint32_t> key;  ///< by op
  std::vector<std::size_t> slot;   ///< by op
  std::vector<Slot> slots;
  std::vector<Lane> lanes;  ///< in the order of their agents
};

/// The loops of a schedule. One in which no loops are found becomes a list of ops, each a slot of its own.
Structure structure(const Schedule&);

/// "in 3" → "in": what streams or agents that share the work have in common.
std::string stem(const std::string& name);

}  // namespace shiplap
