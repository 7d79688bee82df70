#include "shiplap/plan/mover_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_blocks.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::vector<std::uint32_t> planted_grids{1, 2, 4, 8, 32, 132};
const std::vector<std::uint64_t> planted_counts{1, 7, 64, 500, 1024, 8001, 16384, 65536};

Mover by_kernel(std::uint32_t grid) { return {.kind = Mover::Kind::kernel, .grid = grid}; }
constexpr Mover by_copies{.kind = Mover::Kind::copies};
constexpr Mover by_batch{.kind = Mover::Kind::batch};
constexpr Mover by_strided{.kind = Mover::Kind::strided};

/// The planted time of a mover by itself, without any table.
Seconds planted_time(const Mover& mover, const BlockSet& set) {
  return planted_block_cost(mover, set.to_device, set.block, set.blocks).time;
}

std::vector<Mover> planted_movers(bool regular) {
  std::vector<Mover> movers{by_copies, by_batch};
  if (regular) movers.push_back(by_strided);
  for (const std::uint32_t grid : planted_grids) movers.push_back(by_kernel(grid));
  return movers;
}

Seconds planted_best(const BlockSet& set) {
  Seconds best = planted_time(by_copies, set);
  for (const Mover& mover : planted_movers(set.regular)) best = std::min(best, planted_time(mover, set));
  return best;
}

/// Between 1 and 4 KiB the planted rate of the kernel jumps at 4 KiB, and the table has no row between them.
bool is_interpolated(const Mover& mover, Bytes block) {
  return mover.kind == Mover::Kind::kernel && block > 1_KiB && block < 4_KiB;
}

/// A profile whose tables hold what a test says.
Profile with_movers(std::map<std::string, std::vector<BlockTime>> movers) {
  Profile profile = planted_profile();
  profile.links[0].blocks->movers = std::move(movers);
  return profile;
}

BlockTime row(std::uint32_t grid, double us) {
  return {.grid = grid,
          .block = 64_KiB,
          .blocks = 100,
          .time = Interval<Seconds>::exact(microseconds(us)),
          .call = Interval<Seconds>::exact(Seconds{0})};
}

TEST(MoverChoice, times_are_the_planted_ones) {
  const Profile profile = planted_profile();
  for (const bool to_device : {true, false})
    for (const std::uint64_t count : planted_counts)
      for (Bytes block = 256_B; block <= 4_MiB; block = block * 2) {
        const BlockSet set{.block = block, .blocks = count, .to_device = to_device, .regular = true};
        const auto times = mover_times(profile, 0, 0, set);
        EXPECT_EQ(times.size(), planted_movers(true).size());
        for (const MoverTime& m : times) {
          const double tolerance = is_interpolated(m.mover, block) ? 0.1 : 1e-6;
          const Seconds planted = planted_time(m.mover, set);
          EXPECT_NEAR(m.time / planted, 1, tolerance) << to_string(m.mover) << " " << count << " x " << block.count;
        }
      }
}

TEST(MoverChoice, the_best_is_within_one_per_cent_of_the_planted_optimum) {
  const Profile profile = planted_profile();
  for (const bool regular : {true, false})
    for (const bool to_device : {true, false})
      for (const std::uint64_t count : planted_counts)
        for (const Bytes block : crossover_sizes()) {
          const BlockSet set{.block = block, .blocks = count, .to_device = to_device, .regular = regular};
          const Mover best = choose_mover(profile, 0, 0, set).best.mover;
          if (is_interpolated(by_kernel(1), block)) continue;
          EXPECT_LE(planted_time(best, set), planted_best(set) * 1.0100001)
              << to_string(best) << " for " << count << " x " << block.count;
        }
}

TEST(MoverChoice, times_are_those_of_the_simulator) {
  const Profile profile = planted_profile();
  for (const bool gather : {true, false})
    for (const std::uint64_t count : {1ull, 100ull, 20'000ull})
      for (const Mover& mover : {by_copies, by_batch, by_strided, by_kernel(4), by_kernel(32)}) {
        const Bytes block = 8_KiB;
        Schedule s;
        const BufferId pool = s.add_buffer({"pool", Place::host(), MemoryKind::pinned, block * count});
        const BufferId packed = s.add_buffer({"packed", Place::gpu(), MemoryKind::device, block * count});
        const bool regular = mover == by_strided;
        const BlockListId list = s.add_list({"list", block, block, count, regular});
        s.add({.what = BlockCopy{.list = list,
                                 .count = count,
                                 .gather = gather,
                                 .pool = {pool, 0_B, block * count},
                                 .packed = {packed, 0_B, block * count},
                                 .mover = mover},
               .stream = s.add_stream("stream"),
               .after = {}});
        const auto times =
            mover_times(profile, 0, 0, {.block = block, .blocks = count, .to_device = gather, .regular = regular});
        const auto found = std::ranges::find(times, mover, &MoverTime::mover);
        ASSERT_NE(found, times.end());
        EXPECT_NEAR(found->time / simulate(s, profile).timeline.makespan, 1, 1e-9) << to_string(mover) << " " << count;
      }
}

/// The sizes at which another mover is the fastest than at the size before, by the planted functions alone. Grids of
/// the kernel count as one mover.
std::vector<Bytes> planted_changes(BlockSet set) {
  std::vector<Bytes> changes;
  Mover::Kind before{};
  for (const Bytes block : crossover_sizes()) {
    set.block = block;
    Mover best = by_copies;
    for (const Mover& mover : planted_movers(false))
      if (planted_time(mover, set) < planted_time(best, set)) best = mover;
    if (block > smallest_crossover && best.kind != before) changes.push_back(block);
    before = best.kind;
  }
  return changes;
}

std::vector<Bytes> changes_of_kind(const Crossovers& found) {
  std::vector<Bytes> changes;
  for (std::size_t i = 1; i < found.best.size(); ++i)
    if (found.best[i].mover->kind != found.best[i - 1].mover->kind) changes.push_back(found.best[i].block);
  return changes;
}

TEST(MoverChoice, crossovers_between_kernel_and_copies_are_the_planted_ones) {
  const Profile profile = planted_profile();
  for (const bool to_device : {true, false})
    for (const std::uint64_t count : {64ull, 1024ull, 16384ull}) {
      const BlockSet set{.blocks = count, .to_device = to_device};
      const auto planted = planted_changes(set);
      const auto found = changes_of_kind(crossovers(profile, 0, 0, set));
      ASSERT_EQ(found.size(), planted.size()) << count << (to_device ? " H2D" : " D2H");
      // A copy engine wins from where it is 1 % slower on, where both times grow slowly apart.
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_LE(found[i], planted[i]);
        BlockSet at = set;
        at.block = found[i];
        EXPECT_LE(planted_time(by_batch, at), planted_best(at) * 1.0100001);
        at.block = Bytes{found[i].count - found[i].count / 16};  // the size before is at most that far away
        EXPECT_GT(planted_time(by_batch, at), planted_best(at) * 1.01);
      }
    }
}

TEST(MoverChoice, crossovers_begin_at_the_smallest_size_and_name_each_change_once) {
  const Profile profile = planted_profile();
  for (const std::uint64_t count : planted_counts) {
    const Crossovers found = crossovers(profile, 0, 0, {.blocks = count, .to_device = true});
    ASSERT_FALSE(found.best.empty());
    EXPECT_EQ(found.best.front().block, 256_B);
    EXPECT_EQ(found.blocks, count);
    for (std::size_t i = 1; i < found.best.size(); ++i) {
      EXPECT_LT(found.best[i - 1].block, found.best[i].block);
      EXPECT_NE(found.best[i - 1].mover, found.best[i].mover);
      EXPECT_LE(found.best[i].block * count, profile.gpus[0].memory);
    }
  }
}

TEST(MoverChoice, keeps_the_limit_on_what_a_neighbour_loses) {
  Profile profile = planted_profile();
  profile.links[0].blocks = with_planted_waits(planted_blocks());
  // Beside a gather, planted kernels bound by memory lose 3 % at a grid of 8, and 13.5 % more for every 8 blocks up
  // to 32.
  const BlockSet set{.block = 64_KiB, .blocks = 16384};  // long, so that its kernel is on the SMs nearly all the time
  const auto grids = [&](const MoverLimits& limits) {
    std::vector<std::uint32_t> all;
    for (const MoverTime& m : mover_times(profile, 0, 0, set, limits))
      if (m.mover.kind == Mover::Kind::kernel) all.push_back(m.mover.grid);
    std::ranges::sort(all);
    return all;
  };
  EXPECT_EQ(grids({}), planted_grids);
  EXPECT_EQ(grids({.max_slowdown = 0.03}), (std::vector<std::uint32_t>{1, 2, 4, 8}));
  EXPECT_EQ(grids({.max_slowdown = 0.0299}), (std::vector<std::uint32_t>{1, 2, 4}));
  EXPECT_EQ(grids({.max_slowdown = 0.0}), std::vector<std::uint32_t>{});
  // A neighbour that only computes loses 1 % at a grid of 32 and 1.5 % at one of 132; half bound by memory, 23 %.
  EXPECT_EQ(grids({.max_slowdown = 0.0101, .neighbour = Neighbour{.memory_bound = 0}}),
            (std::vector<std::uint32_t>{1, 2, 4, 8, 32}));
  EXPECT_EQ(grids({.max_slowdown = 0.2299, .neighbour = Neighbour{.memory_bound = 0.5}}),
            (std::vector<std::uint32_t>{1, 2, 4, 8}));
  EXPECT_EQ(grids({.max_slowdown = 0.2301, .neighbour = Neighbour{.memory_bound = 0.5}}),
            (std::vector<std::uint32_t>{1, 2, 4, 8, 32}));
}

/// The entry of a mover.
Seconds time_by(const std::vector<MoverTime>& times, const Mover& mover) {
  return std::ranges::find(times, mover, &MoverTime::mover)->time;
}
double slowdown_by(const std::vector<MoverTime>& times, const Mover& mover) {
  return std::ranges::find(times, mover, &MoverTime::mover)->slowdown;
}

TEST(MoverChoice, a_mover_whose_cost_to_a_neighbour_was_not_measured_keeps_no_limit) {
  const BlockSet set{.block = 4_KiB, .blocks = 1024};
  for (const MoverTime& m : mover_times(planted_profile(), 0, 0, set, {.max_slowdown = 10.0}))
    EXPECT_EQ(m.mover.kind, Mover::Kind::kernel) << "there is no row for copies";
  EXPECT_THROW(choose_mover(planted_profile(), 0, 0, set, {.max_slowdown = 0.0}), Unsupported);
  Profile without = planted_profile();
  without.links[0].blocks = with_planted_waits(planted_blocks());
  without.links[0].blocks->beside_gather[0].added.reset();
  for (const MoverTime& m : mover_times(without, 0, 0, set, {.neighbour = Neighbour{}}))
    EXPECT_EQ(m.mover.kind, Mover::Kind::kernel) << "how long copies take beside it is unknown";
  for (MutualSlowdown& row : without.links[0].blocks->beside_gather) row.added.reset();
  EXPECT_THAT(message_of([&] { mover_times(without, 0, 0, set, {.neighbour = Neighbour{}}); }),
              HasSubstr("`neighbour` cannot be considered"));
}

TEST(MoverChoice, a_limit_alone_leaves_the_times_those_of_an_idle_gpu) {
  Profile profile = planted_profile();
  profile.links[0].blocks = with_planted_waits(planted_blocks());
  const BlockSet set{.block = 4_KiB, .blocks = 1024};
  for (const MoverTime& m : mover_times(profile, 0, 0, set, {.max_slowdown = 0.5}))
    EXPECT_NEAR(m.time / planted_time(m.mover, set), 1, 1e-9) << to_string(m.mover);
}

TEST(MoverChoice, crossovers_say_where_no_mover_keeps_the_limit) {
  Profile profile = planted_profile();
  profile.links[0].blocks = with_planted_waits(planted_blocks());
  for (MutualSlowdown& row : profile.links[0].blocks->beside_gather) row.memory = Interval<double>::exact(0.5);
  const Crossovers found = crossovers(profile, 0, 0, {.blocks = 64}, {.max_slowdown = 0.1});
  EXPECT_TRUE(found.best.front().mover) << "a batch of small blocks is slow and costs little";
  EXPECT_FALSE(found.best.back().mover);
}

TEST(MoverChoice, beside_a_neighbour_counts_what_the_neighbour_adds_to_each_mover) {
  Profile profile = planted_profile();
  profile.links[0].blocks = with_planted_waits(planted_blocks());
  for (const double memory_bound : {0.0, 1.0}) {
    const Neighbour neighbour{.memory_bound = memory_bound, .thread_block = microseconds(50)};
    const BlockSet set{.block = 64_KiB, .blocks = 64};  // 4 MiB
    const auto alone = mover_times(profile, 0, 0, set);
    const auto beside = mover_times(profile, 0, 0, set, {.neighbour = neighbour});
    const auto added_us = [&](const Mover& m) { return in_microseconds(time_by(beside, m) - time_by(alone, m)); };
    EXPECT_NEAR(added_us(by_kernel(1)), memory_bound > 0 ? 3 + 4 * 40 + 40 : 2 + 4 * 80 + 40, 1e-6);
    EXPECT_NEAR(added_us(by_kernel(8)), memory_bound > 0 ? 3 + 4 * 5 + 40 : 2 + 4 * 10 + 40, 1e-6);
    EXPECT_NEAR(added_us(by_batch), memory_bound > 0 ? 4 + 64 * 0.3 + 4 * 2 : 1 + 64 * 0.1 + 4 * 0.5, 1e-6);
  }
}

TEST(MoverChoice, long_thread_blocks_of_a_neighbour_turn_a_short_move_over_to_the_copy_engine) {
  Profile profile = planted_profile();
  profile.links[0].blocks = with_planted_waits(planted_blocks());
  const BlockSet set{.block = 16_KiB, .blocks = 16};
  const auto best = [&](double thread_block_us) {
    const Neighbour neighbour{.memory_bound = 0, .thread_block = microseconds(thread_block_us)};
    return choose_mover(profile, 0, 0, set, {.neighbour = neighbour}).best.mover.kind;
  };
  EXPECT_EQ(best(0.1), Mover::Kind::kernel);
  EXPECT_EQ(best(100), Mover::Kind::batch);
  EXPECT_EQ(choose_mover(profile, 0, 0, set).best.mover.kind, Mover::Kind::kernel) << "alone";
}

TEST(MoverChoice, a_limit_is_kept_by_the_upper_ends_of_intervals) {
  Profile profile = planted_profile();
  for (MutualSlowdown& row : profile.links[0].blocks->beside_gather) row.memory.high = 2 * row.memory.value;
  const BlockSet set{.block = 64_KiB, .blocks = 1024};
  for (const MoverTime& m : mover_times(profile, 0, 0, set, {.max_slowdown = 0.05}))
    if (m.mover.kind == Mover::Kind::kernel) {
      EXPECT_LT(m.mover.grid, 8u) << "3 %, and perhaps 6 %";
    }
  EXPECT_GT(slowdown_by(mover_times(profile, 0, 0, set), by_kernel(8)), 0.025) << "the figure itself is shown";
}

TEST(MoverChoice, copies_cost_a_neighbour_in_proportion_to_their_rate) {
  Profile profile = planted_profile();
  profile.links[0].blocks = with_planted_waits(planted_blocks());
  const double link = 1e-9 / profile.links[0].h2d.per_byte.value.seconds;
  for (const Bytes block : {4_KiB, 64_KiB, 4_MiB}) {
    const BlockSet set{.block = block, .blocks = 16};
    const double rate = in_bytes(block) * 16 / planted_time(by_batch, set).count() * 1e-9;
    EXPECT_NEAR(slowdown_by(mover_times(profile, 0, 0, set), by_batch), 0.02 * std::min(1.0, rate / link), 1e-9);
  }
  EXPECT_THROW(choose_mover(profile, 0, 0, {.block = 4_MiB, .blocks = 16}, {.max_slowdown = 0.001}), Unsupported);
}

TEST(MoverChoice, a_kernel_costs_its_neighbour_nothing_while_it_is_launched_or_waits) {
  Profile profile = planted_profile();
  profile.links[0].blocks = with_planted_waits(planted_blocks());
  const auto loss = [&](std::uint64_t blocks, double thread_block_us) {
    const Neighbour neighbour{.thread_block = microseconds(thread_block_us)};
    return slowdown_by(mover_times(profile, 0, 0, {.block = 16_KiB, .blocks = blocks}, {.neighbour = neighbour}),
                       by_kernel(8));
  };
  EXPECT_LT(loss(16, 10), 0.7 * 0.03);
  EXPECT_LT(loss(16, 100), 0.3 * loss(16, 10));
  EXPECT_NEAR(loss(16384, 10), 0.03, 0.0005) << "a long move occupies its SMs nearly all the time";
}

TEST(MoverChoice, thread_blocks_without_a_word_to_move_cost_nothing) {
  const Profile profile = planted_profile();
  // 16 blocks of 256 B are 256 words of 16 B: one thread block of 512 threads moves them, whatever the grid is.
  const auto times = mover_times(profile, 0, 0, {.block = 256_B, .blocks = 16});
  EXPECT_LE(slowdown_by(times, by_kernel(132)), 0.01);
  EXPECT_GT(slowdown_by(mover_times(profile, 0, 0, {.block = 4_KiB, .blocks = 16384}), by_kernel(132)), 1.2);
}

TEST(MoverChoice, a_smaller_grid_that_is_less_than_one_per_cent_slower_is_preferred) {
  const Profile profile = with_movers({{"kernel pinned h2d", {row(4, 1020), row(8, 1009), row(32, 1000)}}});
  const auto times = mover_times(profile, 0, 0, {.block = 64_KiB, .blocks = 100});
  std::vector<std::uint32_t> grids;
  for (const MoverTime& m : times) grids.push_back(m.mover.grid);
  EXPECT_EQ(grids, (std::vector<std::uint32_t>{8, 32, 4}));
}

TEST(MoverChoice, a_copy_engine_that_is_less_than_one_per_cent_slower_is_preferred_to_a_kernel) {
  const auto best = [](double batch_us) {
    return choose_mover(with_movers({{"kernel pinned h2d", {row(8, 1000)}}, {"batch pinned h2d", {row(0, batch_us)}}}),
                        0, 0, {.block = 64_KiB, .blocks = 100})
        .best.mover;
  };
  EXPECT_EQ(best(1009), by_batch);
  EXPECT_EQ(best(1011), by_kernel(8));
}

TEST(MoverChoice, a_strided_copy_moves_regular_blocks_only) {
  const Profile profile = planted_profile();
  BlockSet set{.block = 1_MiB, .blocks = 64, .regular = true};
  EXPECT_EQ(choose_mover(profile, 0, 0, set).best.mover, by_strided);
  set.regular = false;
  for (const MoverTime& m : mover_times(profile, 0, 0, set)) EXPECT_NE(m.mover, by_strided);
}

TEST(MoverChoice, says_in_one_sentence_why) {
  const MoverChoice choice = choose_mover(planted_profile(), 0, 0, {.block = 4_KiB, .blocks = 1024});
  EXPECT_THAT(choice.reason,
              AllOf(HasSubstr("1024 blocks of 4 KiB move H2D by kernel of 8 blocks in "), HasSubstr("GB/s), and by ")));
  const MoverChoice limited =
      choose_mover(planted_profile(), 0, 0, {.block = 4_KiB, .blocks = 1024}, {.max_slowdown = 0.02});
  EXPECT_THAT(limited.reason, HasSubstr("may become 2 % slower"));
}

TEST(MoverChoice, a_profile_without_figures_is_refused_with_what_to_do) {
  Profile profile = planted_profile();
  profile.links[0].blocks.reset();
  const BlockSet set{.block = 4_KiB, .blocks = 8};
  EXPECT_THROW(mover_times(profile, 0, 0, set), Unsupported);
  EXPECT_THAT(message_of([&] { choose_mover(profile, 0, 0, set); }),
              AllOf(HasSubstr("no figures for moves of scattered blocks"), HasSubstr("shiplap measure")));
  BlockSet managed = set;
  managed.pool = MemoryKind::managed;
  EXPECT_THAT(message_of([&] { choose_mover(planted_profile(), 0, 0, managed); }), HasSubstr("managed memory"));
}

TEST(MoverChoice, a_limit_without_measured_slowdowns_is_refused) {
  Profile profile = planted_profile();
  profile.links[0].blocks->beside_gather.clear();
  const BlockSet set{.block = 4_KiB, .blocks = 8};
  EXPECT_NO_THROW(choose_mover(profile, 0, 0, set));
  EXPECT_THAT(message_of([&] { choose_mover(profile, 0, 0, set, {.max_slowdown = 0.05}); }),
              HasSubstr("does not say what movers and kernels concurrent with them cost each other"));
}

TEST(MoverChoice, an_empty_set_and_limits_out_of_range_are_refused) {
  const Profile profile = planted_profile();
  EXPECT_THROW(mover_times(profile, 0, 0, {.block = 0_B, .blocks = 1}), UsageError);
  EXPECT_THROW(mover_times(profile, 0, 0, {.block = 1_B, .blocks = 0}), UsageError);
  EXPECT_THROW(mover_times(profile, 0, 0, {.block = 1_B}, {.max_slowdown = -0.1}), UsageError);
  EXPECT_THROW(mover_times(profile, 0, 0, {.block = 1_B}, {.neighbour = Neighbour{.memory_bound = 1.1}}), UsageError);
  EXPECT_THROW(mover_times(profile, 0, 0, {.block = 1_B}, {.neighbour = Neighbour{.thread_block = microseconds(-1)}}),
               UsageError);
  const Profile only_kernel = with_movers({{"kernel pinned h2d", {row(8, 1000)}}});
  EXPECT_THROW(choose_mover(only_kernel, 0, 0, {.block = 64_KiB, .blocks = 100}, {.max_slowdown = 0.001}), Unsupported);
}

TEST(MoverChoice, a_block_of_one_gibibyte_is_not_for_the_kernel) {
  for (const MoverTime& m : mover_times(planted_profile(), 0, 0, {.block = 1_GiB, .blocks = 2}))
    EXPECT_NE(m.mover.kind, Mover::Kind::kernel);
}

}  // namespace
}  // namespace shiplap
