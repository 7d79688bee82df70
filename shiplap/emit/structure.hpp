// The loops of a schedule: corresponding ops of all chunks form a slot, and host threads submit slots in loops over the
// chunks.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Ops that differ only in their regions, such as the H2D copies of x for all chunks.
struct Slot {
  std::vector<OpId> ops;  ///< op of each key; none for a key without one
  std::uint32_t count = 0;
};

/// One loop over the keys [first, last). Each iteration has the ops of a stage's slots in their order.
struct Run {
  std::size_t stage = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  friend bool operator==(const Run&, const Run&) = default;
};

/// The work of one agent, which executes all runs of the lane in order, or of several agents with corresponding ops.
/// Such a lane has a single run over all keys: of its n agents, the one with number a (from 0) takes the keys a, a + n,
/// a + 2n and so on.
struct Lane {
  std::uint32_t first_agent = 0;
  std::uint32_t agents = 1;
  std::vector<std::size_t> once;                 ///< slots with a single op, before the runs
  std::vector<std::vector<std::size_t>> stages;  ///< slots of each stage in order
  std::vector<Run> runs;
};

/// The structure of a schedule. Every op belongs to a slot and a key, which is the number of a chunk or of an agent.
/// Lanes and runs give the ops of each agent in the order of the schedule.
struct Structure {
  std::uint32_t keys = 1;
  bool by_agent = false;           ///< keys number agents instead of chunks
  std::vector<std::uint32_t> key;  ///< key of each op
  std::vector<std::size_t> slot;   ///< slot of each op
  std::vector<Slot> slots;
  std::vector<Lane> lanes;  ///< lanes in the order of their agents
};

/// Finds the loops of a schedule. A schedule without loops becomes a list of ops, each in its own slot.
Structure structure(const Schedule&);

/// The common name of streams or agents with the same role: "in 3" → "in".
std::string stem(const std::string& name);

}  // namespace shiplap
