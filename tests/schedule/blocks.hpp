// Schedules with scattered blocks, for the tests of this room.
#pragma once

#include "tests/schedule/builder.hpp"

namespace shiplap::testing_schedules {

/// A pool of 10 blocks of 8 B at a pitch of 16 B in pinned memory, a list of 6 indices of it, contiguous memory for 6
/// blocks on the GPU and on the host, and two streams.
struct BlockBuilder : Builder {
  static constexpr Bytes block{8};
  BufferId pool = host("pool", 160_B);
  BufferId gpu = device("gpu", 48_B);
  BufferId packed = host("packed", 48_B);
  BlockListId list = schedule.add_list({.name = "pages", .block = block, .pitch = 16_B, .count = 6, .regular = false});
  StreamId one = schedule.add_stream("one");
  StreamId two = schedule.add_stream("two");
  BlockBuilder() { schedule.add_kernel("k"); }

  Region whole_pool() const { return {pool, 0_B, 160_B}; }
  /// The contiguous memory on the GPU of the positions [first, first + count).
  Region on_gpu(std::uint64_t first, std::uint64_t count) const { return {gpu, block * first, block * count}; }
  BlockCopy gather_of(std::uint64_t first, std::uint64_t count) const {
    return {.list = list,
            .first = first,
            .count = count,
            .gather = true,
            .pool = whole_pool(),
            .packed = on_gpu(first, count),
            .mover = {.kind = Mover::Kind::batch}};
  }
  BlockCopy scatter_of(std::uint64_t first, std::uint64_t count) const {
    BlockCopy blocks = gather_of(first, count);
    blocks.gather = false;
    return blocks;
  }
  OpId move(StreamId stream, BlockCopy blocks, std::vector<OpId> after = {}, std::uint32_t chunk = 0) {
    return add(blocks, stream, std::move(after), chunk);
  }
  OpId gather(StreamId stream, std::uint64_t first, std::uint64_t count, std::vector<OpId> after = {}) {
    return move(stream, gather_of(first, count), std::move(after));
  }
  OpId scatter(StreamId stream, std::uint64_t first, std::uint64_t count, std::vector<OpId> after = {}) {
    return move(stream, scatter_of(first, count), std::move(after));
  }
  BlockCopy& moved(OpId op) { return std::get<BlockCopy>(schedule.ops[op.index()].what); }
};

}  // namespace shiplap::testing_schedules
