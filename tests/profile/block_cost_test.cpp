// Costs of moving blocks between and beyond the rows of a profile, against planted functions.
#include <gtest/gtest.h>

#include <random>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/names.hpp"
#include "tests/support/planted_blocks.hpp"

namespace shiplap {
namespace {

/// Affine in the number of blocks and in the size of a block.
struct Affine {
  double base, per_block, per_byte_of_block, per_byte;
  double at(double block, double n) const {
    return base + n * (per_block + per_byte * block) + per_byte_of_block * block;
  }
};
constexpr Affine planted_time{4e-6, 0.5e-6, 1e-10, 2e-11};
constexpr Affine planted_call{2e-6, 0.3e-6, 3e-11, 0};

BlockTime block_row(std::uint32_t grid, std::uint64_t block, std::uint64_t n, double seconds, double call_seconds = 0) {
  return {.grid = grid,
          .block = Bytes{block},
          .blocks = n,
          .time = Interval<Seconds>::exact(Seconds{seconds}),
          .call = Interval<Seconds>::exact(Seconds{call_seconds})};
}

/// Rows of the functions above. The largest blocks have fewer rows, as where memory is short.
std::vector<BlockTime> affine_rows() {
  std::vector<BlockTime> rows;
  for (const std::uint64_t block : {256u, 4096u, 65536u, 1048576u})
    for (const std::uint64_t n : {1u, 64u, 1024u, 16384u})
      if (block * n <= 1u << 30)
        rows.push_back(block_row(0, block, n, planted_time.at(static_cast<double>(block), static_cast<double>(n)),
                                 planted_call.at(static_cast<double>(block), static_cast<double>(n))));
  return rows;
}

void expect_cost(const BlockCost& cost, double seconds, double call_seconds, const std::string& where) {
  EXPECT_NEAR(cost.time.count(), seconds, 1e-9 * seconds) << where;
  EXPECT_NEAR(cost.call.count(), call_seconds, 1e-9 * call_seconds) << where;
}

TEST(BlockCost, is_that_of_the_row_at_every_row_of_the_planted_tables) {
  for (const bool to_device : {true, false})
    for (const Mover& mover :
         {Mover{Mover::Kind::copies}, Mover{Mover::Kind::batch}, Mover{Mover::Kind::strided},
          Mover{Mover::Kind::kernel, 1}, Mover{Mover::Kind::kernel, 8}, Mover{Mover::Kind::kernel, 132}}) {
      const auto rows = planted_blocks().movers.at(name_in_profile(mover, MemoryKind::pinned, to_device));
      int at_rows = 0;
      for (const BlockTime& r : rows) {
        if (r.grid != mover.grid) continue;
        const BlockCost planted = planted_block_cost(mover, to_device, r.block, r.blocks);
        expect_cost(block_cost(rows, mover.grid, r.block, r.blocks), planted.time.count(), planted.call.count(),
                    to_string(mover) + ", " + to_string(r.block) + " x " + std::to_string(r.blocks));
        ++at_rows;
      }
      EXPECT_GT(at_rows, 10);
    }
}

TEST(BlockCost, is_exact_for_affine_functions_between_rows_and_beyond_the_last_ones) {
  const std::vector<BlockTime> rows = affine_rows();
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t block = 256 + random() % (std::uint64_t{1} << (9 + random() % 14));
    const std::uint64_t n = 1 + random() % (std::uint64_t{1} << (1 + random() % 18));
    expect_cost(block_cost(rows, 0, Bytes{block}, n),
                planted_time.at(static_cast<double>(block), static_cast<double>(n)),
                planted_call.at(static_cast<double>(block), static_cast<double>(n)),
                std::to_string(block) + " B x " + std::to_string(n));
  }
}

TEST(BlockCost, is_constant_below_the_first_row) {
  const std::vector<BlockTime> rows{block_row(0, 256, 4, 7e-6, 1e-6), block_row(0, 256, 8, 9e-6, 2e-6),
                                    block_row(0, 512, 4, 8e-6, 1e-6), block_row(0, 512, 8, 12e-6, 2e-6)};
  expect_cost(block_cost(rows, 0, 256_B, 1), 7e-6, 1e-6, "fewer blocks");
  expect_cost(block_cost(rows, 0, 16_B, 4), 7e-6, 1e-6, "smaller blocks");
  expect_cost(block_cost(rows, 0, 1_B, 1), 7e-6, 1e-6, "both");
  expect_cost(block_cost(rows, 0, 1_B, 6), 8e-6, 1.5e-6, "smaller blocks between two counts");
}

TEST(BlockCost, continues_the_last_two_rows_and_is_never_negative) {
  const std::vector<BlockTime> rows{block_row(0, 256, 1, 5e-6), block_row(0, 256, 2, 7e-6)};
  EXPECT_NEAR(block_cost(rows, 0, 256_B, 10).time.count(), 23e-6, 1e-15);
  EXPECT_NEAR(block_cost(rows, 0, 4096_B, 10).time.count(), 23e-6, 1e-15) << "one size of a block";
  const std::vector<BlockTime> falling{block_row(0, 256, 1, 5e-6), block_row(0, 256, 2, 4e-6)};
  EXPECT_EQ(block_cost(falling, 0, 256_B, 1000).time.count(), 0);
}

TEST(BlockCost, of_a_single_row_is_that_row_for_fewer_blocks_and_in_proportion_for_more) {
  const std::vector<BlockTime> rows{block_row(0, 256, 4, 7e-6, 1e-6)};
  for (const std::uint64_t n : {1u, 4u}) expect_cost(block_cost(rows, 0, 300_B, n), 7e-6, 1e-6, "");
  expect_cost(block_cost(rows, 0, 300_B, 100), 25 * 7e-6, 25 * 1e-6, "");
}

TEST(BlockCost, has_a_rate_that_is_linear_in_the_grid_between_rows_and_constant_beyond) {
  // Rates of 1, 3 and 4 per 100 µs; the calls take 1, 5 and 5 µs.
  const std::vector<BlockTime> rows{block_row(2, 256, 1, 100e-6, 1e-6), block_row(6, 256, 1, 100e-6 / 3, 5e-6),
                                    block_row(10, 256, 1, 25e-6, 5e-6)};
  const auto at = [&](std::uint32_t grid) { return block_cost(rows, grid, 256_B, 1); };
  expect_cost(at(2), 100e-6, 1e-6, "row");
  expect_cost(at(3), 100e-6 / 1.5, 2e-6, "a quarter of the way");
  expect_cost(at(4), 50e-6, 3e-6, "half of the way");
  expect_cost(at(6), 100e-6 / 3, 5e-6, "row");
  expect_cost(at(8), 100e-6 / 3.5, 5e-6, "between the others");
  expect_cost(at(10), 25e-6, 5e-6, "last row");
  expect_cost(at(132), 25e-6, 5e-6, "beyond");
  expect_cost(at(1), 100e-6, 1e-6, "below");
}

TEST(BlockCost, of_planted_kernels_is_exact_between_grids_as_long_as_rates_grow_with_the_grid) {
  // Without the fixed 5 µs, times of the planted kernels are bytes over a rate that is proportional to the grid.
  std::vector<BlockTime> rows;
  for (const std::uint32_t grid : {1u, 4u, 7u})
    for (const std::uint64_t block : {4096u, 65536u})
      for (const std::uint64_t n : {1u, 1000u})
        rows.push_back(block_row(grid, block, n, static_cast<double>(block * n) / (grid * 6.3e9)));
  for (std::uint32_t grid = 1; grid <= 7; ++grid)
    for (const std::uint64_t block : {4096u, 5000u, 65536u, 200'000u})
      for (const std::uint64_t n : {1u, 17u, 1000u, 5000u})
        EXPECT_NEAR(block_cost(rows, grid, Bytes{block}, n).time.count() * grid * 6.3e9, static_cast<double>(block * n),
                    1e-9 * static_cast<double>(block * n))
            << grid << " " << block << " " << n;
}

TEST(BlockCost, needs_a_row) { EXPECT_THROW(block_cost({}, 0, 1_KiB, 1), Error); }

TEST(GridsOf, are_those_of_the_rows_in_order) {
  EXPECT_EQ(grids_of(planted_blocks().movers.at("kernel pinned h2d")),
            (std::vector<std::uint32_t>{1, 2, 4, 8, 32, 132}));
  EXPECT_EQ(grids_of(planted_blocks().movers.at("batch pinned h2d")), std::vector<std::uint32_t>{0});
  EXPECT_TRUE(grids_of({}).empty());
}

TEST(BesideAt, is_linear_between_rows_proportional_below_and_constant_above) {
  const auto fraction = [](double value) { return Interval<double>::exact(value); };
  const std::vector<MutualSlowdown> rows{{.grid = 4, .compute = fraction(0.02), .memory = fraction(0.1)},
                                         {.grid = 8, .compute = fraction(0.04), .memory = fraction(0.5)},
                                         {.grid = 16, .compute = fraction(0.03), .memory = fraction(0.7)}};
  const auto expect = [&](std::uint32_t grid, double compute, double memory) {
    EXPECT_NEAR(beside_at(rows, grid)->compute.value, compute, 1e-12) << grid;
    EXPECT_NEAR(beside_at(rows, grid)->memory.value, memory, 1e-12) << grid;
  };
  expect(1, 0.005, 0.025);
  expect(2, 0.01, 0.05);
  expect(4, 0.02, 0.1);
  expect(5, 0.025, 0.2);
  expect(8, 0.04, 0.5);
  expect(12, 0.035, 0.6);
  expect(16, 0.03, 0.7);
  expect(132, 0.03, 0.7);
}

TEST(BesideAt, of_one_row_is_proportional_below_and_constant_above_and_of_none_is_zero) {
  const std::vector<MutualSlowdown> rows{
      {.grid = 4, .compute = Interval<double>::exact(0.02), .memory = Interval<double>::exact(0.1)}};
  EXPECT_NEAR(beside_at(rows, 1)->memory.value, 0.025, 1e-12);
  EXPECT_NEAR(beside_at(rows, 4)->memory.value, 0.1, 1e-12);
  EXPECT_NEAR(beside_at(rows, 9)->memory.value, 0.1, 1e-12);
  EXPECT_FALSE(beside_at({}, 8));
}

TEST(BesideAt, copies_have_a_row_of_their_own_that_kernels_do_not_see) {
  const BlockModel model = with_planted_waits(planted_blocks());
  EXPECT_NEAR(beside_at(model.beside_gather, 0)->memory.value, 0.02, 1e-12);
  EXPECT_NEAR(beside_at(model.beside_gather, 0)->added->memory.per_block.value.count(), 0.3e-6, 1e-15);
  EXPECT_EQ(beside_at(model.beside_gather, 0)->added->wait.value, 0);
  EXPECT_FALSE(beside_at(planted_blocks().beside_gather, 0)) << "no row for copies";
  EXPECT_FALSE(beside_at({model.beside_gather.front()}, 8)) << "no row for kernels";
  std::vector<MutualSlowdown> partly = model.beside_gather;
  partly[2].added.reset();
  EXPECT_FALSE(beside_at(partly, 5)->added) << "between a row with and one without";
  const std::vector<MutualSlowdown> kernels(model.beside_gather.begin() + 1, model.beside_gather.end());
  for (const std::uint32_t grid : {1u, 3u, 8u, 132u, 500u}) {
    EXPECT_EQ(beside_at(model.beside_gather, grid)->memory.value, beside_at(kernels, grid)->memory.value) << grid;
    EXPECT_EQ(beside_at(model.beside_gather, grid)->added->memory.per_mib.value.count(),
              beside_at(kernels, grid)->added->memory.per_mib.value.count())
        << grid;
  }
  // Halfway between grids 32 and 82 of a line from 32 to 132.
  EXPECT_NEAR(beside_at(model.beside_gather, 82)->added->compute.per_mib.value.count(), (80e-6 / 32 + 80e-6 / 132) / 2,
              1e-15);
}

TEST(MoveDelay, counts_ops_blocks_mebibytes_and_the_wait_for_thread_blocks) {
  const MutualSlowdown beside = beside_at(with_planted_waits(planted_blocks()).beside_scatter, 8).value();
  const auto added = [&](double memory_bound, double thread_block_us) {
    const Neighbour neighbour{.memory_bound = memory_bound, .thread_block = microseconds(thread_block_us)};
    return in_microseconds(added_to_move(*beside.added, neighbour, {.block = 64_KiB, .blocks = 32}).value);
  };
  // 2 MiB: at a grid of 8, 10 us a MiB concurrent with computing kernels, and 5 us beside memory-bound ones.
  EXPECT_NEAR(added(0, 0), 2 + 20, 1e-9);
  EXPECT_NEAR(added(1, 0), 3 + 10, 1e-9);
  EXPECT_NEAR(added(0.5, 0), 2.5 + 15, 1e-9);
  EXPECT_NEAR(added(1, 100), 3 + 10 + 80, 1e-9);
  const AddedToMover copies = beside_at(with_planted_waits(planted_blocks()).beside_scatter, 0)->added.value();
  const auto added_to_copies = [&](std::uint64_t calls) {
    const Neighbour neighbour{.memory_bound = 1, .thread_block = microseconds(100)};
    return in_microseconds(added_to_move(copies, neighbour, {.block = 64_KiB, .blocks = 32, .calls = calls}).value);
  };
  EXPECT_NEAR(added_to_copies(1), 4 + 32 * 0.3 + 2 * 2, 1e-9) << "a batch";
  EXPECT_NEAR(added_to_copies(32), 32 * 4 + 2 * 2, 1e-9) << "a call for each block";
  EXPECT_NEAR(added_to_neighbour(beside, {.memory_bound = 0.25}).value, 0.004 + 0.25 * (0.3 - 0.004), 1e-12);
}

TEST(MoveDelay, has_the_ends_of_the_measured_intervals) {
  const auto us_from = [](double value) {
    return Interval<Seconds>{microseconds(value), microseconds(value - 0.5), microseconds(value + 0.25)};
  };
  const AddedToMover beside{.wait = {1, 0.5, 1.5},
                            .compute = {},
                            .memory = {.per_move = us_from(5), .per_block = us_from(2), .per_mib = us_from(8)}};
  const Interval<Seconds> added =
      added_to_move(beside, {.memory_bound = 1, .thread_block = microseconds(10)}, {.block = 1_MiB, .blocks = 3});
  EXPECT_NEAR(in_microseconds(added.low), 4.5 + 3 * 1.5 + 3 * 7.5 + 5, 1e-9);
  EXPECT_NEAR(in_microseconds(added.high), 5.25 + 3 * 2.25 + 3 * 8.25 + 15, 1e-9);
  const MutualSlowdown row{.grid = 4, .compute = {}, .memory = {0.1, 0.05, 0.2}};
  EXPECT_NEAR(added_to_neighbour(row, {.memory_bound = 1}).high, 0.2, 1e-12);
}

}  // namespace
}  // namespace shiplap
