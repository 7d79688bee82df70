// Copies of pieces of equal size, for schedules whose calls are faked.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap::testing {

inline constexpr Bytes piece{256};

/// ChunkReach `i` of a buffer to where piece `i` of the other one is.
inline Op copy_op(BufferId from, BufferId to, std::uint32_t i, StreamId stream, std::vector<OpId> after = {}) {
  return {.what = Copy{{from, piece * i, piece}, {to, piece * i, piece}},
          .stream = stream,
          .agent = AgentId{0},
          .after = std::move(after),
          .chunk = i};
}

}  // namespace shiplap::testing
