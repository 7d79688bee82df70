// Ops that move scattered blocks: what a sound schedule has, and what is said of them.
#include "tests/schedule/blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/names.hpp"
#include "shiplap/schedule/succession.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

TEST(BlockOps, are_sound_by_every_mover_in_both_directions) {
  for (const bool gather : {true, false})
    for (const auto kind : {Mover::Kind::copies, Mover::Kind::batch, Mover::Kind::strided, Mover::Kind::kernel}) {
      BlockBuilder b;
      b.schedule.lists[0].regular = kind == Mover::Kind::strided;
      BlockCopy blocks = gather ? b.gather_of(0, 6) : b.scatter_of(0, 6);
      blocks.mover = {.kind = kind, .grid = kind == Mover::Kind::kernel ? 2u : 0u};
      b.move(b.one, blocks);
      EXPECT_EQ(joined(problems(b.schedule)), "") << to_string(blocks.mover);
      EXPECT_NO_THROW(validate(b.schedule));
    }
}

TEST(BlockOps, are_sound_by_a_host_agent_from_pageable_and_pinned_pools) {
  for (const bool gather : {true, false})
    for (const MemoryKind memory : {MemoryKind::pageable, MemoryKind::pinned}) {
      BlockBuilder b;
      b.schedule.buffers[b.pool.index()].memory = memory;
      BlockCopy blocks = gather ? b.gather_of(0, 6) : b.scatter_of(0, 6);
      blocks.packed.buffer = b.packed;
      b.move({}, blocks);
      EXPECT_EQ(joined(problems(b.schedule)), "");
    }
}

TEST(BlockOps, of_a_regular_list_may_reach_the_last_byte_of_the_pool_and_may_be_part_of_a_graph) {
  BlockBuilder b;
  b.schedule.lists[0].regular = true;
  BlockCopy blocks = b.gather_of(0, 6);
  blocks.pool.length = 88_B;  // block 5 ends there
  blocks.mover = {.kind = Mover::Kind::strided};
  b.move(b.one, blocks);
  b.schedule.as_graph = true;
  EXPECT_EQ(joined(problems(b.schedule)), "");
}

TEST(BlockOps, of_copies_from_pageable_memory_are_sound) {
  BlockBuilder b;
  b.schedule.buffers[b.pool.index()].memory = MemoryKind::pageable;
  b.gather(b.one, 0, 6);
  EXPECT_EQ(joined(problems(b.schedule)), "");
}

struct Refusal {
  std::string says;  ///< the whole message
  std::function<void(BlockBuilder&, BlockCopy&)> spoil;
};

// Each begins with the name of the op.
const std::vector<Refusal> refusals{
    {"uses list 7, but the schedule has 1 lists", [](BlockBuilder&, BlockCopy& c) { c.list = {7}; }},
    {"has blocks of 0 B at a pitch of 16 B; blocks have at least one byte and lie apart",
     [](BlockBuilder& b, BlockCopy&) { b.schedule.lists[0].block = 0_B; }},
    {"has blocks of 8 B at a pitch of 7 B; blocks have at least one byte and lie apart",
     [](BlockBuilder& b, BlockCopy&) { b.schedule.lists[0].pitch = 7_B; }},
    {"has blocks of 8 B at a pitch of 0 B; blocks have at least one byte and lie apart",
     [](BlockBuilder& b, BlockCopy&) {
       b.schedule.lists[0].pitch = 0_B;
       b.schedule.lists[0].regular = true;
     }},
    {"moves 4 blocks from position 3 on of list pages, which has 6 blocks; use positions of the list",
     [](BlockBuilder&, BlockCopy& c) { c.first = 3; }},
    {"moves 4 blocks from position 18446744073709551615 on of list pages, which has 6 blocks; use positions of the "
     "list",
     [](BlockBuilder&, BlockCopy& c) { c.first = ~0ull; }},
    {"moves 7 blocks from position 0 on of list pages, which has 6 blocks; use positions of the list",
     [](BlockBuilder& b, BlockCopy& c) {
       b.schedule.buffers[b.gpu.index()].size = 56_B;
       c.count = 7;
       c.packed.length = 56_B;
     }},
    {"moves 4 blocks of 8 B, and its contiguous memory has 24 B; use 32 B",
     [](BlockBuilder&, BlockCopy& c) { c.packed.length = 24_B; }},
    {"moves 4 blocks of 8 B, and its contiguous memory has 33 B; use 32 B",
     [](BlockBuilder&, BlockCopy& c) { c.packed.length = 33_B; }},
    {"accesses 40 B at offset 16 of buffer gpu, which has only 48 B",
     [](BlockBuilder&, BlockCopy& c) {
       c.packed = {c.packed.buffer, 16_B, 40_B};
     }},
    {"accesses 161 B at offset 0 of buffer pool, which has only 160 B",
     [](BlockBuilder&, BlockCopy& c) { c.pool.length = 161_B; }},
    {"accesses a region of no bytes in buffer gpu; leave it out",
     [](BlockBuilder&, BlockCopy& c) {
       c.count = 0;
       c.packed.length = 0_B;
     }},
    {"moves blocks of 8 B of a pool of 7 B; use a larger pool or smaller blocks",
     [](BlockBuilder&, BlockCopy& c) { c.pool.length = 7_B; }},
    {"uses list pages, whose 6 blocks at a pitch of 16 B reach beyond the pool of 87 B; use a larger pool or fewer "
     "blocks",
     [](BlockBuilder& b, BlockCopy& c) {
       b.schedule.lists[0].regular = true;
       c.pool.length = 87_B;
     }},
    {"has a pool on a GPU; a pool is in host memory",
     [](BlockBuilder& b, BlockCopy& c) {
       c.pool = {b.device("there", 160_B), 0_B, 160_B};
     }},
    {"has contiguous memory on the host and a stream; use memory on a GPU, or no stream",
     [](BlockBuilder& b, BlockCopy& c) { c.packed.buffer = b.packed; }},
    {"reads and writes overlapping bytes of buffer pool; use other contiguous memory",
     [](BlockBuilder&, BlockCopy& c) {
       c.packed = {c.pool.buffer, 128_B, 32_B};
     }},
    {"is moved by a kernel, which cannot access pageable memory; pin it, or use copies",
     [](BlockBuilder& b, BlockCopy& c) {
       b.schedule.buffers[b.pool.index()].memory = MemoryKind::pageable;
       c.mover = {.kind = Mover::Kind::kernel, .grid = 1};
     }},
    {"is moved by a kernel without thread blocks; use at least one",
     [](BlockBuilder&, BlockCopy& c) { c.mover = {.kind = Mover::Kind::kernel}; }},
    {"is moved by a strided copy, and list pages has indices; use another mover",
     [](BlockBuilder&, BlockCopy& c) { c.mover = {.kind = Mover::Kind::strided}; }},
    {"is moved by a batch in a graph, which has a node for each copy; use copies or a strided copy",
     [](BlockBuilder& b, BlockCopy&) {
       b.schedule.as_graph = true;
       b.schedule.lists[0].regular = true;
     }},
    {"is part of a graph, which would keep the indices of the time when it was made; submit the ops one by one",
     [](BlockBuilder& b, BlockCopy&) { b.schedule.as_graph = true; }},
};

TEST(BlockOps, are_refused_with_what_is_wrong_and_what_to_do) {
  for (const Refusal& refusal : refusals) {
    BlockBuilder b;
    BlockCopy blocks = b.gather_of(0, 4);
    refusal.spoil(b, blocks);
    b.move(b.one, blocks);
    EXPECT_REFUSED(b.schedule, refusal.says);
    EXPECT_THAT(joined(problems(b.schedule)), ::testing::StartsWith("gather"));
  }
}

TEST(BlockOps, of_the_host_are_refused_with_memory_on_a_gpu) {
  BlockBuilder b;
  b.move({}, b.gather_of(0, 4));
  EXPECT_REFUSED(b.schedule,
                 "gather of 4 blocks of pages of chunk 0 (op 0) has contiguous memory on a GPU and no stream; use "
                 "memory on the host, or a stream");
}

TEST(BlockOps, of_the_host_are_no_part_of_a_graph) {
  BlockBuilder b;
  BlockCopy blocks = b.gather_of(0, 4);
  blocks.packed.buffer = b.packed;
  b.move({}, blocks);
  b.schedule.as_graph = true;
  EXPECT_REFUSED(b.schedule, "is performed by the host, which a graph cannot hold");
}

TEST(BlockOps, are_no_part_of_a_batch) {
  BlockBuilder b;
  b.copy(b.one, {b.packed, 0_B, 8_B}, b.on_gpu(5, 1));
  b.schedule.ops[b.gather(b.one, 0, 4).index()].batched = true;
  EXPECT_REFUSED(b.schedule, "only copies can be");
}

TEST(BlockOps, are_described_by_direction_count_and_list) {
  BlockBuilder b;
  const OpId in = b.gather(b.one, 0, 4);
  const OpId out = b.scatter(b.one, 0, 1);
  b.schedule.ops[out.index()].chunk = 3;
  EXPECT_EQ(describe(b.schedule, in), "gather of 4 blocks of pages of chunk 0 (op 0)");
  EXPECT_EQ(describe(b.schedule, out), "scatter of 1 blocks of pages of chunk 3 (op 1)");
}

TEST(BlockOps, have_the_direction_in_which_blocks_move) {
  BlockBuilder b;
  EXPECT_EQ(direction(b.schedule, b.gather_of(0, 2)), CopyDirection::host_to_device);
  EXPECT_EQ(direction(b.schedule, b.scatter_of(0, 2)), CopyDirection::device_to_host);
  BlockCopy by_host = b.gather_of(0, 2);
  by_host.packed.buffer = b.packed;
  EXPECT_EQ(direction(b.schedule, by_host), CopyDirection::host_to_host);
}

TEST(BlockOps, block_their_agent_without_a_stream_and_when_the_pool_is_pageable) {
  BlockBuilder b;
  const OpId op = b.gather(b.one, 0, 4);
  EXPECT_FALSE(blocks_agent(b.schedule, b.schedule.ops[op.index()]));
  EXPECT_TRUE(first_blocking(b.schedule).is_none());
  EXPECT_TRUE(can_be_held(b.schedule));
  Schedule pageable = b.schedule;
  pageable.buffers[b.pool.index()].memory = MemoryKind::pageable;
  EXPECT_TRUE(blocks_agent(pageable, pageable.ops[op.index()]));
  EXPECT_EQ(first_blocking(pageable), op);
  EXPECT_FALSE(can_be_held(pageable));
  Schedule by_host = b.schedule;
  by_host.ops[op.index()].stream = {};
  std::get<BlockCopy>(by_host.ops[op.index()].what).packed.buffer = b.packed;
  EXPECT_TRUE(blocks_agent(by_host, by_host.ops[op.index()]));
}

TEST(BlocksOfPool, are_those_that_end_within_the_pool) {
  for (std::uint64_t block = 1; block <= 5; ++block)
    for (std::uint64_t pitch = block; pitch <= 7; ++pitch)
      for (std::uint64_t pool = 0; pool <= 30; ++pool) {
        std::uint64_t counted = 0;
        while (counted * pitch + block <= pool) ++counted;
        EXPECT_EQ(blocks_of_pool(Bytes{pool}, Bytes{block}, Bytes{pitch}), counted);
      }
}

TEST(Movers, have_names_for_people_and_keys_of_the_profile) {
  EXPECT_EQ(to_string(Mover{.kind = Mover::Kind::kernel, .grid = 8}), "kernel of 8 blocks");
  EXPECT_EQ(to_string(Mover{.kind = Mover::Kind::strided}), "strided copy");
  using Kind = Mover::Kind;
  EXPECT_EQ(name_in_profile({.kind = Kind::copies}, MemoryKind::pageable, false), "copies pageable d2h");
  EXPECT_EQ(name_in_profile({.kind = Kind::batch}, MemoryKind::pinned, true), "batch pinned h2d");
  EXPECT_EQ(name_in_profile({.kind = Kind::strided}, MemoryKind::mapped, true), "strided pinned h2d");
  EXPECT_EQ(name_in_profile({.kind = Kind::kernel, .grid = 8}, MemoryKind::driver_pinned, false), "kernel pinned d2h");
}

TEST(Concatenation, lets_a_scatter_wait_for_the_gather_of_the_same_blocks_only) {
  BlockBuilder first;
  first.gather(first.one, 0, 3);
  BlockBuilder second;
  second.scatter(second.two, 2, 1);
  Schedule both = concatenate(first.schedule, second.schedule);
  EXPECT_EQ(both.ops[1].after, std::vector<OpId>{{0}});
  EXPECT_EQ(joined(problems(both)), "");
  second.moved({0}) = second.scatter_of(3, 3);
  both = concatenate(first.schedule, second.schedule);
  EXPECT_TRUE(both.ops[1].after.empty());
  EXPECT_EQ(joined(problems(both)), "");
}

TEST(Concatenation, refuses_schedules_with_other_lists_or_other_urgent_streams) {
  const BlockBuilder first;
  BlockBuilder second;
  second.schedule.lists[0].count = 5;
  EXPECT_EQ(message_of([&] { concatenate(first.schedule, second.schedule); }),
            "cannot concatenate schedules: list 0 is pages (6 blocks of 8 B at a pitch of 16 B, by indices) in the "
            "first and pages (5 blocks of 8 B at a pitch of 16 B, by indices) in the second; both must have the same "
            "lists");
  second = {};
  second.schedule.streams[1].urgent = true;
  EXPECT_EQ(message_of([&] { concatenate(first.schedule, second.schedule); }),
            "cannot concatenate schedules: stream 1 is two (gpu 0) in the first and two (gpu 0, urgent) in the second; "
            "both must have the same streams");
}

TEST(Concatenation, refuses_lists_that_differ_in_pitch_or_indices_and_shows_both) {
  const BlockBuilder first;
  BlockBuilder second;
  second.schedule.lists[0].pitch = 32_B;
  second.schedule.lists[0].regular = true;
  EXPECT_EQ(message_of([&] { concatenate(first.schedule, second.schedule); }),
            "cannot concatenate schedules: list 0 is pages (6 blocks of 8 B at a pitch of 16 B, by indices) in the "
            "first and pages (6 blocks of 8 B at a pitch of 32 B, regular) in the second; both must have the same "
            "lists");
}

TEST(Succession, numbers_the_lists_of_each_schedule_anew) {
  BlockBuilder one;
  one.gather(one.one, 0, 6);
  BlockBuilder other;
  other.schedule.lists[0].name = "other";
  other.gather(other.two, 1, 2);
  const Succession all = succession(std::array{Successor{&one.schedule, 0}, Successor{&other.schedule, 1}});
  ASSERT_EQ(all.schedule.lists.size(), 2u);
  const auto& second = std::get<BlockCopy>(all.schedule.ops[1].what);
  EXPECT_EQ(all.schedule.lists[second.list.index()].name, "other");
  EXPECT_EQ(all.schedule.buffers[second.pool.buffer.index()].name, "pool");
  EXPECT_EQ(second.pool.buffer, BufferId{3});
  EXPECT_EQ(second.packed.buffer, BufferId{4});
  EXPECT_EQ(joined(problems(all.schedule)), "");
}

TEST(Succession, refuses_a_stream_that_is_urgent_in_one_schedule_only) {
  BlockBuilder one;
  BlockBuilder urgent;
  one.gather(one.two, 0, 6);
  urgent.gather(urgent.two, 0, 6);
  urgent.schedule.streams[1].urgent = true;
  EXPECT_NO_THROW(succession(std::array{Successor{&urgent.schedule, 0}, Successor{&urgent.schedule, 1}}));
  EXPECT_EQ(message_of([&] {
              succession(std::array{Successor{&one.schedule, 0}, Successor{&urgent.schedule, 1}});
            }),
            "schedules cannot share stream 1, which is urgent in one of them only; make it urgent in all or in none");
}

TEST(Succession, refuses_blocks_that_the_host_moves) {
  BlockBuilder b;
  BlockCopy blocks = b.gather_of(0, 4);
  blocks.packed.buffer = b.packed;
  b.move({}, blocks);
  EXPECT_THROW(succession(std::array{Successor{&b.schedule, 0}}), Unsupported);
}

TEST(Movers, of_a_kind_that_does_not_exist_have_no_name) { EXPECT_THROW(name_of(static_cast<Mover::Kind>(99)), Error); }

}  // namespace
}  // namespace shiplap
