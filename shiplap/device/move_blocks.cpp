#include "shiplap/device/move_blocks.hpp"

#include <cstring>

#include "shiplap/device/bindings.hpp"

namespace shiplap {

BlockMove block_move(const Schedule& schedule, const BlockCopy& blocks, const Bindings& bindings) {
  const BlockList& list = schedule.lists[blocks.list.index()];
  const auto address = [&](const Region& r) { return bindings.buffers[r.buffer.index()] + r.offset.count; };
  return {.pool = address(blocks.pool),
          .packed = address(blocks.packed),
          .indices = list.regular ? nullptr : bindings.lists[blocks.list.index()].data() + blocks.first,
          .first = blocks.first,
          .count = blocks.count,
          .block = list.block,
          .pitch = list.pitch,
          .gather = blocks.gather};
}

void move_on_host(const BlockMove& move) {
  for (std::uint64_t k = 0; k < move.count; ++k)
    if (move.gather)
      std::memcpy(move.in_packed(k), move.in_pool(k), move.block.count);
    else
      std::memcpy(move.in_pool(k), move.in_packed(k), move.block.count);
}

}  // namespace shiplap
