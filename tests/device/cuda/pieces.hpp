// Copies of pieces of equal size, for schedules whose calls are faked.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap::testing {

inline constexpr Bytes piece{256};

/// Piece `i` of a buffer to where piece `i` of the other one is.
inline Op copy_op(BufferId from, BufferId to, std::uint32_t i, QueueId queue, std::vector<OpId> after = {}) {
  return {.what = Copy{{from, piece * i, piece}, {to, piece * i, piece}},
          .queue = queue,
          .agent = AgentId{0},
          .after = std::move(after),
          .chunk = i};
}

}  // namespace shiplap::testing
