#include "shiplap/device/list_check.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

/// A list of four indices of a pool of ten blocks at a pitch of 16 B, and the ops that use it.
struct Checked {
  Schedule schedule;
  std::vector<std::uint32_t> indices{3, 0, 9, 4};
  BufferId pool = schedule.add_buffer({"pool", Place::host(), MemoryKind::pinned, 160_B});
  BufferId gpu = schedule.add_buffer({"gpu", Place::gpu(), MemoryKind::device, 32_B});
  BlockListId list = schedule.add_list({.name = "pages", .block = 8_B, .pitch = 16_B, .count = 4, .regular = false});
  StreamId stream = schedule.add_stream("q");

  void move(bool gather, Bytes pool_length = 152_B, std::uint64_t first = 0, std::uint64_t count = 4) {
    schedule.add({.what = BlockCopy{.list = list,
                                    .first = first,
                                    .count = count,
                                    .gather = gather,
                                    .pool = {pool, 0_B, pool_length},
                                    .packed = {gpu, 0_B, 8_B * count},
                                    .mover = {.kind = Mover::Kind::batch}},
                  .stream = stream,
                  .after = {}});
  }
  Bindings bindings() const { return {.buffers = {}, .kernels = {}, .lists = {indices}}; }
  void check() const { ListCheck(schedule, bindings()).check(); }
};

TEST(ListCheck, accepts_indices_up_to_the_last_block_that_fits_into_the_pool) {
  Checked c;
  c.move(true);  // the last block of the pool ends with the pool, without the rest of its pitch
  EXPECT_NO_THROW(c.check());
}

TEST(ListCheck, names_the_position_and_the_index_of_what_is_outside_of_the_pool) {
  for (const bool gather : {true, false}) {
    Checked c;
    c.move(gather);
    c.indices[2] = 10;
    EXPECT_EQ(message_of<UsageError>([&] { c.check(); }),
              "list pages: index 10 at position 2 is outside of the pool, which has blocks 0 to 9; use one of these");
    c.indices[1] = ~0u;
    EXPECT_EQ(
        message_of<UsageError>([&] { c.check(); }),
        "list pages: index 4294967295 at position 1 is outside of the pool, which has blocks 0 to 9; use one of these");
  }
}

TEST(ListCheck, knows_that_a_block_which_reaches_beyond_the_pool_by_a_byte_is_outside) {
  Checked c;
  c.move(true, 151_B);
  EXPECT_EQ(message_of<UsageError>([&] { c.check(); }),
            "list pages: index 9 at position 2 is outside of the pool, which has blocks 0 to 8; use one of these");
}

TEST(ListCheck, holds_all_ops_of_a_list_to_the_smallest_of_their_pools) {
  for (const bool small_first : {true, false}) {
    Checked c;
    c.move(true, small_first ? 72_B : 160_B);
    c.move(true, small_first ? 160_B : 72_B);
    c.indices = {3, 0, 4, 5};
    EXPECT_EQ(message_of<UsageError>([&] { c.check(); }),
              "list pages: index 5 at position 3 is outside of the pool, which has blocks 0 to 4; use one of these");
  }
}

TEST(ListCheck, refuses_a_block_named_twice_only_where_an_op_writes_to_the_pool) {
  Checked gather;
  gather.move(true);
  gather.indices = {7, 7, 7, 0};
  EXPECT_NO_THROW(gather.check());
  Checked scatter;
  scatter.move(true);
  scatter.move(false, 152_B, 0, 1);  // through a part of the list
  scatter.indices = {1, 7, 2, 7};
  EXPECT_EQ(message_of<UsageError>([&] { scatter.check(); }),
            "list pages: positions 1 and 3 both name block 7, and blocks are written to the pool, so its content would "
            "be undefined; name every block once");
}

TEST(ListCheck, sees_indices_that_change_after_its_construction_and_forgets_those_of_earlier_checks) {
  Checked c;
  c.move(false);
  ListCheck check(c.schedule, c.bindings());
  std::mt19937 random(3);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    for (std::uint32_t& index : c.indices) index = static_cast<std::uint32_t>(random() % 11);
    const std::set<std::uint32_t> different(c.indices.begin(), c.indices.end());
    const bool sound = different.size() == c.indices.size() && *different.rbegin() < 10;
    if (sound)
      ASSERT_NO_THROW(check.check()) << "round " << round;
    else
      ASSERT_THROW(check.check(), UsageError) << "round " << round;
    refused += !sound;
  }
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 1500);
}

TEST(ListCheck, refuses_another_number_of_indices_than_blocks) {
  Checked c;
  c.move(true);
  c.indices.pop_back();
  EXPECT_EQ(message_of([&] { c.check(); }),
            "list pages has 4 blocks in the schedule, and 3 indices are bound to it; bind one for each block");
  EXPECT_EQ(message_of([&] { ListCheck(c.schedule, {}); }),
            "list pages has 4 blocks in the schedule, and 0 indices are bound to it; bind one for each block");
}

TEST(ListCheck, wants_no_indices_for_a_list_that_is_regular_or_that_no_op_uses) {
  Checked unused;
  EXPECT_NO_THROW(ListCheck(unused.schedule, {}));
  Checked regular;
  regular.schedule.lists[0].regular = true;
  regular.move(false);
  EXPECT_NO_THROW(ListCheck(regular.schedule, {}).check());
  EXPECT_EQ(message_of([&] { regular.check(); }),
            "list pages is regular in the schedule, and 4 indices are bound to it; bind none");
}

TEST(ListCheck, refuses_indices_of_lists_that_the_schedule_does_not_have) {
  Checked c;
  c.schedule.lists.clear();
  EXPECT_EQ(message_of([&] { ListCheck(c.schedule, c.bindings()); }),
            "the schedule has 0 block lists, and indices are bound for 1; bind those of its lists");
}

TEST(ListCheck, checks_every_list_of_a_schedule) {
  Checked c;
  c.move(true);
  c.list = c.schedule.add_list({.name = "second", .block = 8_B, .pitch = 8_B, .count = 4, .regular = false});
  c.move(true);
  const std::array<std::uint32_t, 4> second{18, 19, 0, 1};
  Bindings bindings = c.bindings();
  bindings.lists.emplace_back(second);
  EXPECT_EQ(message_of<UsageError>([&] { ListCheck(c.schedule, bindings).check(); }),
            "list second: index 19 at position 1 is outside of the pool, which has blocks 0 to 18; use one of these");
}

}  // namespace
}  // namespace shiplap
