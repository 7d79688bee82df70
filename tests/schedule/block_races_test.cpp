// Which accesses to a pool of scattered blocks need an order.
#include <gtest/gtest.h>

#include <random>

#include "shiplap/schedule/races.hpp"
#include "tests/schedule/blocks.hpp"
#include "tests/support/cpu_time.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

TEST(BlockRaces, scatters_of_different_blocks_of_one_list_need_no_order) {
  BlockBuilder b;
  const OpId first = b.scatter(b.one, 0, 3);
  const OpId second = b.scatter(b.two, 3, 3);
  EXPECT_TRUE(are_apart(b.schedule, first, second));
  EXPECT_EQ(joined(problems(b.schedule)), "");
}

TEST(BlockRaces, scatters_that_share_a_block_are_a_race_and_both_are_named) {
  BlockBuilder b;
  b.scatter(b.one, 0, 4);
  b.scatter(b.two, 3, 3);
  EXPECT_FALSE(are_apart(b.schedule, {0}, {1}));
  EXPECT_EQ(joined(problems(b.schedule)),
            "scatter of 3 blocks of pages of chunk 0 (op 1) writes bytes [0, 160) of buffer pool, which scatter of 4 "
            "blocks of pages of chunk 0 (op 0) writes, and nothing orders the two; let op 1 wait for op 0 or for an op "
            "after it\n");
}

TEST(BlockRaces, scatters_through_two_lists_of_a_pool_are_a_race) {
  BlockBuilder b;
  BlockCopy other = b.scatter_of(3, 3);
  other.list = b.schedule.add_list({.name = "more", .block = 8_B, .pitch = 16_B, .count = 6, .regular = false});
  b.scatter(b.one, 0, 3);
  b.move(b.two, other);
  EXPECT_FALSE(are_apart(b.schedule, {0}, {1}));
  EXPECT_REFUSED(b.schedule, "scatter of 3 blocks of more of chunk 0 (op 1) writes bytes [0, 160) of buffer pool");
}

TEST(BlockRaces, scatters_through_one_list_into_two_overlapping_parts_of_a_pool_are_a_race) {
  BlockBuilder b;
  b.scatter(b.one, 0, 3);
  BlockCopy other = b.scatter_of(3, 3);
  other.pool = {b.pool, 16_B, 144_B};
  b.move(b.two, other);
  EXPECT_FALSE(are_apart(b.schedule, {0}, {1}));
  EXPECT_REFUSED(b.schedule, "writes bytes [16, 160) of buffer pool");
}

TEST(BlockRaces, a_scatter_and_a_copy_of_the_pool_are_a_race_whichever_comes_first) {
  for (const bool scatter_first : {true, false}) {
    BlockBuilder b;
    if (scatter_first) b.scatter(b.one, 0, 1);
    b.copy(b.two, {b.pool, 0_B, 8_B}, b.on_gpu(5, 1));
    if (!scatter_first) b.scatter(b.one, 0, 1);
    EXPECT_FALSE(are_apart(b.schedule, {0}, {1}));
    EXPECT_REFUSED(b.schedule, "nothing orders the two");
  }
}

TEST(BlockRaces, a_reader_of_the_pool_must_wait_for_every_scatter_before_it) {
  for (const std::vector<OpId>& after : {std::vector<OpId>{{0}, {1}, {2}}, {{0}, {1}}, {{0}, {2}}, {{1}, {2}}}) {
    BlockBuilder b;
    for (std::uint64_t i = 0; i < 3; ++i) b.scatter(b.schedule.add_stream("q"), 2 * i, 2);
    b.copy(b.one, b.whole_pool(), {b.device("all", 160_B), 0_B, 160_B}, after);
    EXPECT_EQ(problems(b.schedule).size(), 3 - after.size()) << joined(problems(b.schedule));
  }
}

TEST(BlockRaces, gathers_into_the_same_contiguous_memory_are_a_race) {
  BlockBuilder b;
  b.gather(b.one, 0, 3);
  BlockCopy other = b.gather_of(3, 3);
  other.packed = b.on_gpu(0, 3);
  b.move(b.two, other);
  EXPECT_REFUSED(b.schedule, "writes bytes [0, 24) of buffer gpu");
}

TEST(BlockRaces, contiguous_memory_in_the_buffer_of_the_pool_is_not_taken_for_blocks_of_the_list) {
  BlockBuilder b;
  b.schedule.buffers[b.pool.index()].size = 208_B;
  b.schedule.agents = {{"main"}, {"worker"}};
  BlockCopy first = b.gather_of(0, 3);
  BlockCopy second = b.gather_of(3, 3);
  first.packed = second.packed = {b.pool, 160_B, 24_B};
  b.move({}, first);
  b.schedule.ops[b.move({}, second).index()].agent = {1};
  EXPECT_REFUSED(b.schedule, "writes bytes [160, 184) of buffer pool");
}

TEST(BlockRaces, a_scatter_behind_another_does_not_hide_the_other_from_a_reader_of_its_blocks) {
  BlockBuilder b;
  b.scatter(b.one, 0, 3);
  b.scatter(b.one, 3, 3);
  BlockCopy reader = b.gather_of(0, 3);
  reader.packed.buffer = b.device("more", 48_B);
  b.move(b.two, reader);
  EXPECT_REFUSED(b.schedule, "which scatter of 3 blocks of pages of chunk 0 (op 0) writes");
  EXPECT_EQ(problems(b.schedule).size(), 1u);
}

TEST(BlockRaces, a_scatter_behind_a_copy_does_not_hide_the_copy_from_readers_of_other_blocks) {
  BlockBuilder b;
  b.copy(b.one, b.on_gpu(5, 1), {b.pool, 80_B, 8_B});
  b.scatter(b.one, 0, 3);
  b.gather(b.two, 3, 2);
  EXPECT_REFUSED(b.schedule, "which copy D2H of chunk 0 (op 0) writes");
}

TEST(BlockRaces, a_gather_behind_another_does_not_hide_the_other_from_a_scatter_of_its_blocks) {
  BlockBuilder b;
  b.gather(b.one, 0, 3);
  b.gather(b.one, 3, 3);
  BlockCopy writer = b.scatter_of(0, 3);
  writer.packed.buffer = b.device("more", 48_B);
  b.move(b.two, writer);
  EXPECT_REFUSED(b.schedule, "which gather of 3 blocks of pages of chunk 0 (op 0) reads");
}

// Whether two accesses may touch the same bytes. Only the ops are known, not the indices: two positions of one list are
// taken to name different blocks of the pool.
bool may_meet(const Schedule& schedule, std::size_t i, const Region& a, std::size_t j, const Region& b) {
  if (a.buffer != b.buffer || a.offset + a.length <= b.offset || b.offset + b.length <= a.offset) return false;
  const auto* one = std::get_if<BlockCopy>(&schedule.ops[i].what);
  const auto* other = std::get_if<BlockCopy>(&schedule.ops[j].what);
  if (one == nullptr || other == nullptr || !(a == one->pool) || !(b == other->pool)) return true;
  if (one->list != other->list || !(one->pool == other->pool)) return true;
  for (std::uint64_t p = one->first; p < one->first + one->count; ++p)
    if (p >= other->first && p < other->first + other->count) return true;
  return false;
}

// The number of pairs of ops that race, from the transitive closure of stream order and dependencies.
int count_races_by_closure(const Schedule& schedule) {
  const std::size_t n = schedule.ops.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
  for (std::size_t j = 0; j < n; ++j) {
    for (OpId dependency : schedule.ops[j].after) before[dependency.index()][j] = true;
    for (std::size_t i = 0; i < j; ++i)
      if (schedule.ops[i].stream == schedule.ops[j].stream) before[i][j] = true;
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (before[i][k] && before[k][j]) before[i][j] = true;
  int races = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      bool race = false;
      for_each_access(schedule.ops[i], [&](const Region& a, AccessMode mode_a) {
        for_each_access(schedule.ops[j], [&](const Region& b, AccessMode mode_b) {
          if (mode_a == AccessMode::read && mode_b == AccessMode::read) return;
          if (!before[i][j] && may_meet(schedule, i, a, j, b)) race = true;
        });
      });
      races += race;
    }
  return races;
}

Schedule random_schedule(std::mt19937& random) {
  const auto below = [&random](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  BlockBuilder b;
  b.schedule.buffers[b.gpu.index()].size = 400_B;
  const BlockListId other =
      b.schedule.add_list({.name = "more", .block = 8_B, .pitch = 16_B, .count = 6, .regular = false});
  const BufferId target = b.device("target", 160_B);
  b.schedule.add_stream("three");
  const std::uint32_t n = 2 + below(8);
  for (std::uint32_t i = 0; i < n; ++i) {
    std::vector<OpId> after;
    while (i > 0 && below(5) < 2) after.push_back({below(i)});
    const StreamId stream{below(3)};
    if (below(6) == 0) {
      const Region part{b.pool, Bytes{8} * below(10), Bytes{8} * (1 + below(10))};
      const Region there{target, part.offset, part.length};
      below(2) ? b.copy(stream, part, there, after) : b.copy(stream, there, part, after);
      continue;
    }
    const std::uint64_t first = below(6);
    BlockCopy blocks = below(2) ? b.gather_of(first, 1 + below(6 - first)) : b.scatter_of(first, 1 + below(6 - first));
    // Mostly memory of its own, so that most races are those of the pool.
    blocks.packed.offset = below(8) == 0 ? 0_B : Bytes{40} * i;
    blocks.packed.length = 8_B * blocks.count;
    if (below(6) == 0) blocks.list = other;
    if (below(6) == 0) blocks.pool = {b.pool, 16_B, 144_B};
    b.move(stream, blocks, after);
  }
  return b.schedule;
}

TEST(BlockRaces, are_those_of_the_transitive_closure_on_random_schedules) {
  std::mt19937 random(19);
  int sound = 0;
  constexpr int rounds = 4000;
  for (int round = 0; round < rounds; ++round) {
    Schedule schedule = random_schedule(random);
    const int races = count_races_by_closure(schedule);
    const auto found = race_problems(schedule, 100);
    ASSERT_EQ(found.empty(), races == 0) << "round " << round << ": " << joined(found);
    sound += races == 0;
    order_conflicts(schedule, {0});
    ASSERT_EQ(count_races_by_closure(schedule), 0) << "round " << round;
  }
  // Both answers must have been put to the test.
  EXPECT_GT(sound, rounds / 20);
  EXPECT_LT(sound, rounds * 19 / 20);
}

TEST(BlockRaces, concatenated_schedules_have_none_and_wait_for_nothing_that_is_apart) {
  std::mt19937 random(23);
  int tried = 0;
  for (int round = 0; round < 6000; ++round) {
    const Schedule first = random_schedule(random);
    const Schedule second = random_schedule(random);
    if (count_races_by_closure(first) + count_races_by_closure(second) > 0) continue;
    ++tried;
    Schedule both = concatenate(first, second);
    EXPECT_EQ(count_races_by_closure(both), 0) << "round " << round;
    // Every added dependency is needed by itself or was added before one that implies it, so none of a pair without
    // common bytes was added.
    const std::size_t shift = first.ops.size();
    for (std::size_t j = shift; j < both.ops.size(); ++j)
      for (std::size_t a = second.ops[j - shift].after.size(); a < both.ops[j].after.size(); ++a) {
        const std::size_t i = both.ops[j].after[a].index();
        bool meet = false;
        for_each_access(both.ops[i], [&](const Region& x, AccessMode) {
          for_each_access(both.ops[j], [&](const Region& y, AccessMode) { meet |= may_meet(both, i, x, j, y); });
        });
        EXPECT_TRUE(meet) << "round " << round << ": op " << j << " waits for op " << i;
      }
  }
  EXPECT_GT(tried, 100);
}

TEST(BlockRaces, are_found_among_thousands_of_scatters_of_one_list_in_well_under_a_second) {
  BlockBuilder b;
  constexpr std::uint64_t n = 3000;
  b.schedule.lists[0].count = n;
  b.schedule.buffers[b.gpu.index()].size = 8_B * n;
  for (std::uint64_t i = 0; i < n; ++i) b.scatter(i % 2 ? b.one : b.two, i, 1);
  const Seconds start = cpu_time();
  EXPECT_EQ(joined(problems(b.schedule)), "");
  const Seconds took = cpu_time() - start;
  EXPECT_LT(took.count(), 5.0) << "with sanitizers";
  RecordProperty("ms", std::to_string(took.count() * 1e3));
}

}  // namespace
}  // namespace shiplap
