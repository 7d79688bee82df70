#include "shiplap/emit/structure.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/emit/examples.hpp"

namespace shiplap {
namespace {

/// The ops that lanes, runs and stages give to an agent, in their order.
std::vector<std::uint32_t> given(const Structure& s, const Lane& lane, std::uint32_t agent) {
  std::vector<std::uint32_t> ops;
  const auto add = [&](std::size_t slot, std::uint32_t key) {
    if (const OpId op = s.slots[slot].ops[key]; !op.is_none()) ops.push_back(op.value);
  };
  for (const std::size_t slot : lane.once)
    for (std::uint32_t key = 0; key < s.keys; ++key) add(slot, key);
  for (const Run& run : lane.runs)
    for (std::uint32_t key = run.first + agent; key < run.last; key += lane.agents)
      for (const std::size_t slot : lane.stages[run.stage]) add(slot, key);
  return ops;
}

void expect_every_op_in_order(const Schedule& schedule, const std::string& what) {
  const Structure s = structure(schedule);
  std::vector<std::vector<std::uint32_t>> wanted(schedule.agents.size());
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) wanted[schedule.ops[i].agent.index()].push_back(i);
  std::size_t agents = 0;
  for (const Lane& lane : s.lanes)
    for (std::uint32_t a = 0; a < lane.agents; ++a, ++agents)
      EXPECT_EQ(given(s, lane, a), wanted[lane.first_agent + a]) << what << ", agent " << lane.first_agent + a;
  EXPECT_EQ(agents, schedule.agents.size()) << what;
}

TEST(Structure, gives_every_op_of_every_strategy_in_the_order_of_its_agent) {
  for (const testing::Example& example : testing::small_examples())
    expect_every_op_in_order(example.schedule(), example.name);
}

TEST(Structure, gives_every_op_of_chunked_schedules_of_every_shape) {
  const testing::Example roles = testing::example("roles");
  for (const Layout layout : {Layout::per_chunk, Layout::few, Layout::three, Layout::implicit_sync})
    for (const IssueOrder order : {IssueOrder::depth, IssueOrder::breadth})
      for (const std::uint32_t chunks : {1u, 2u, 3u, 7u, 12u})
        for (const std::uint32_t ring : {0u, 1u, 2u, 3u, 5u}) {
          if (ring > chunks) continue;
          const Choice choice{.chunks = chunks, .layout = layout, .order = order, .ring = ring};
          const Schedule schedule =
              find_strategy("streams").schedule(roles.workload.job, choice, {.device_memory = 1_GiB});
          expect_every_op_in_order(schedule, to_string(choice));
          // A slot for each array's copies and the kernels, however many chunks there are.
          EXPECT_LE(structure(schedule).slots.size(), 7u) << to_string(choice) << ", ring " << ring;
        }
}

TEST(Structure, finds_one_loop_in_depth_first_and_three_in_breadth_first_order) {
  const Structure depth = structure(testing::example("three_ring").schedule());
  ASSERT_EQ(depth.lanes.size(), 1u);
  EXPECT_EQ(depth.lanes[0].stages.size(), 1u);
  EXPECT_EQ(depth.lanes[0].runs, (std::vector<shiplap::Run>{{0, 0, 8}}));
  // Seven chunks in a ring of three: the last round is of one chunk.
  const Structure breadth = structure(testing::example("breadth_ring").schedule());
  EXPECT_EQ(breadth.lanes[0].runs,
            (std::vector<shiplap::Run>{
                {0, 0, 3}, {1, 0, 3}, {2, 0, 3}, {0, 3, 6}, {1, 3, 6}, {2, 3, 6}, {0, 6, 7}, {1, 6, 7}, {2, 6, 7}}));
}

TEST(Structure, has_a_lane_for_each_agent_that_submits_and_one_for_the_threads_of_each_way) {
  const Structure staged = structure(testing::example("staged").schedule());
  ASSERT_EQ(staged.lanes.size(), 5u);
  for (const std::size_t lane : {0u, 1u, 2u}) EXPECT_EQ(staged.lanes[lane].agents, 1u);
  EXPECT_EQ(staged.lanes[3].first_agent, 3u);
  EXPECT_EQ(staged.lanes[3].agents, 3u);
  EXPECT_EQ(staged.lanes[4].first_agent, 6u);
  EXPECT_EQ(staged.lanes[4].agents, 3u);
  const Structure managed = structure(testing::example("managed").schedule());
  ASSERT_EQ(managed.lanes.size(), 1u);
  EXPECT_TRUE(managed.by_agent);
}

TEST(Structure, lists_the_ops_of_a_schedule_without_loops) {
  // The order of the chunks' copies out is turned round from one chunk to the next.
  Schedule s;
  const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, 64_KiB});
  const BufferId gpu = s.add_buffer({"GPU", Place::gpu(), MemoryKind::device, 64_KiB});
  const BufferId other = s.add_buffer({"other", Place::gpu(), MemoryKind::device, 64_KiB});
  const StreamId stream = s.add_stream("in");
  for (std::uint32_t c = 0; c < 6; ++c)
    for (const BufferId to : {c % 2 == 0 ? gpu : other, c % 2 == 0 ? other : gpu})
      s.add({.what = Copy{{host, Bytes{c * 1024}, 1_KiB}, {to, Bytes{c * 1024}, 1_KiB}},
             .stream = stream,
             .agent = AgentId{0},
             .after = {},
             .chunk = c});
  expect_every_op_in_order(s, "turned round");
  EXPECT_EQ(structure(s).slots.size(), s.ops.size());
  EXPECT_EQ(structure(s).keys, 1u);
}

// Chunk 0 has only the second of two moves.
TEST(Structure, tells_moves_of_blocks_apart_by_direction_and_mover) {
  Schedule s;
  const BufferId pool = s.add_buffer({"x", Place::host(), MemoryKind::pinned, 64_KiB});
  const BufferId gpu = s.add_buffer({"x on the GPU", Place::gpu(), MemoryKind::device, 64_KiB});
  const BlockListId list = s.add_list({.name = "x", .block = 1_KiB, .pitch = 1_KiB, .count = 6});
  const StreamId stream = s.add_stream("in");
  const auto alike = [&](bool gather, const Mover& mover) {
    s.ops.clear();
    const auto move = [&](std::uint32_t c, bool gathers, const Mover& by) {
      const BlockCopy blocks{.list = list,
                             .first = c,
                             .count = 1,
                             .gather = gathers,
                             .pool = {pool, 0_B, 64_KiB},
                             .packed = {gpu, 1_KiB * c, 1_KiB},
                             .mover = by};
      s.add({.what = blocks, .stream = stream, .agent = AgentId{0}, .after = {}, .chunk = c});
    };
    for (std::uint32_t c = 0; c < 6; ++c) {
      if (c > 0) move(c, true, {.kind = Mover::Kind::kernel, .grid = 3});
      move(c, gather, mover);
    }
    const Structure found = structure(s);
    return found.slots.size() == 2 && std::ranges::all_of(found.slots, [&](const Slot& slot) {
             const auto& last = std::get<BlockCopy>(s.ops[slot.ops.back().index()].what);
             return std::ranges::all_of(slot.ops, [&](OpId id) {
               if (id.is_none()) return true;
               const auto& blocks = std::get<BlockCopy>(s.ops[id.index()].what);
               return blocks.gather == last.gather && blocks.mover == last.mover;
             });
           });
  };
  EXPECT_TRUE(alike(false, {.kind = Mover::Kind::kernel, .grid = 3}));
  EXPECT_TRUE(alike(true, {.kind = Mover::Kind::batch}));
  EXPECT_TRUE(alike(true, {.kind = Mover::Kind::kernel, .grid = 4}));
}

TEST(Structure, takes_the_number_off_a_name) {
  EXPECT_EQ(stem("in 12"), "in");
  EXPECT_EQ(stem("in"), "in");
  EXPECT_EQ(stem("stream 0"), "stream");
  EXPECT_EQ(stem("7"), "7");
}

}  // namespace
}  // namespace shiplap
