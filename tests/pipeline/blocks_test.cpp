// Jobs whose arrays are blocks of a pool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "shiplap/core/error.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/schedule/validate.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t pool_blocks = 40;
constexpr std::uint64_t block_elements = 6;
constexpr Bytes block{block_elements * sizeof(float)};

/// Writes `scale` times the sum of each block of a pool, and adds 1 to each element of other blocks of another pool.
template <class Index>
struct Pages {
  explicit Pages(MeasurableDevice& gpu, std::uint64_t of_list, unsigned seed = 1)
      : pool(gpu, pool_blocks * block_elements),
        state(gpu, pool_blocks * block_elements),
        sums(gpu, of_list),
        count(of_list) {
    std::iota(pool.begin(), pool.end(), 1.0f);
    std::iota(state.begin(), state.end(), 1000.0f);
    choose(seed);
  }

  void choose(unsigned seed) {
    std::mt19937 random(seed);
    read.resize(count);
    for (Index& index : read) index = static_cast<Index>(random() % pool_blocks);
    changed.resize(pool_blocks);
    std::iota(changed.begin(), changed.end(), Index{0});
    std::shuffle(changed.begin(), changed.end(), random);
    changed.resize(count);
  }

  auto job() {
    return Job{count, "pages"}
        .in("pages", pool, blocks(read, block))
        .inout("state", state, blocks(changed, block))
        .out("sums", sums)
        .kernel_time(microseconds(50))
        .host_kernel([](Chunk chunk, auto from, auto own, auto to) {
          for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) {
            to[i] = 0;
            for (std::uint64_t e = i * block_elements; e < (i + 1) * block_elements; ++e) {
              to[i] += from[e];
              own[e] += 1;
            }
          }
        });
  }

  void expect_right(const std::vector<float>& state_before) const {
    std::vector<float> expected = state_before;
    for (std::uint64_t i = 0; i < count; ++i) {
      float sum = 0;
      for (std::uint64_t e = 0; e < block_elements; ++e) {
        sum += pool[static_cast<std::uint64_t>(read[i]) * block_elements + e];
        expected[static_cast<std::uint64_t>(changed[i]) * block_elements + e] += 1;
      }
      ASSERT_EQ(sums[i], sum) << "block " << i;
    }
    ASSERT_TRUE(std::ranges::equal(state, expected));
  }

  pinned_vector<float> pool;
  pinned_vector<float> state;
  pinned_vector<float> sums;
  std::vector<Index> read;
  std::vector<Index> changed;
  std::uint64_t count;
};

TEST(JobOfBlocks, moves_the_blocks_that_the_list_names_by_every_mover_and_number_of_chunks) {
  const auto gpu = planted_gpu();
  for (const auto kind : {Mover::Kind::copies, Mover::Kind::batch, Mover::Kind::kernel})
    for (const Layout layout : {Layout::three, Layout::few, Layout::per_chunk})
      for (const std::uint32_t chunks : {1u, 2u, 7u, 20u})
        for (const std::uint32_t ring : {0u, 2u}) {
          Pages<std::uint32_t> pages(*gpu, 20);
          const std::vector<float> before(pages.state.begin(), pages.state.end());
          const Mover mover{.kind = kind, .grid = kind == Mover::Kind::kernel ? 4u : 0u};
          const Choice choice{.strategy = "streams",
                              .chunks = chunks,
                              .layout = layout,
                              .ring = ring,
                              .mover_h2d = mover,
                              .mover_d2h = mover};
          SCOPED_TRACE(to_string(choice));
          Prepared prepared = prepare(*gpu, pages.job(), choice, {.device_memory = 1_GiB});
          EXPECT_NO_THROW(validate(prepared.schedule()));
          prepared.run();
          pages.expect_right(before);
        }
}

template <class Index>
class IndexTypes : public ::testing::Test {};
using Integers = ::testing::Types<std::uint8_t, std::int16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(IndexTypes, Integers);

TYPED_TEST(IndexTypes, change_from_run_to_run_without_a_new_plan) {
  const auto gpu = planted_gpu();
  Pages<TypeParam> pages(*gpu, 20);
  const auto job = pages.job();
  const Plan made = plan(node_of(*gpu, planted_profile()), job);
  Prepared prepared = prepare(*gpu, made, job);
  for (unsigned seed = 2; seed < 12; ++seed) {
    pages.choose(seed);
    const std::vector<float> before(pages.state.begin(), pages.state.end());
    prepared.run();
    pages.expect_right(before);
  }
}

TEST(JobOfBlocks, may_be_rows_by_index_or_have_a_stride) {
  const auto gpu = planted_gpu();
  constexpr std::uint64_t columns = 8;
  pinned_vector<std::int32_t> matrix(*gpu, 30 * columns);
  std::iota(matrix.begin(), matrix.end(), 0);
  const std::vector<std::int64_t> ids{29, 0, 7, 7, 3};
  pinned_vector<std::int32_t> picked(*gpu, ids.size() * columns);
  pinned_vector<std::int32_t> column(*gpu, 5);
  const auto job = Job{5}
                       .in("rows", matrix, rows(ids, columns))
                       .in("column", matrix, strided(5, 4_B, Bytes{columns * 4}))
                       .out("picked", picked)
                       .out("seen", column)
                       .kernel_time(microseconds(10))
                       .host_kernel([](Chunk chunk, auto from, auto one, auto to, auto seen) {
                         for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) {
                           seen[i] = one[i];
                           for (std::uint64_t c = 0; c < columns; ++c) to[i * columns + c] = from[i * columns + c];
                         }
                       });
  run(*gpu, plan(node_of(*gpu, planted_profile()), job), job);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(column[i], static_cast<std::int32_t>(i * columns));
    for (std::uint64_t c = 0; c < columns; ++c)
      EXPECT_EQ(picked[i * columns + c], matrix[static_cast<std::uint64_t>(ids[i]) * columns + c]);
  }
}

TEST(JobOfBlocks, brings_pageable_pools_through_rings_or_by_copies) {
  const auto gpu = planted_gpu();
  std::vector<float> pool(pool_blocks * block_elements);
  std::iota(pool.begin(), pool.end(), 1.0f);
  std::vector<std::uint32_t> all(pool_blocks);
  std::iota(all.begin(), all.end(), 0u);
  std::shuffle(all.begin(), all.end(), std::mt19937(3));
  const auto job = Job{pool_blocks}
                       .inout("pages", pool, blocks(all, block))
                       .kernel_time(microseconds(10))
                       .host_kernel([](Chunk chunk, auto own) {
                         for (std::uint64_t e = chunk.first * block_elements; e < chunk.end() * block_elements; ++e)
                           own[e] += static_cast<float>(e);
                       });
  const std::vector<float> before = pool;
  Job pageable = job;
  pageable.arrays[0].memory = MemoryKind::pageable;
  Prepared staged =
      prepare(*gpu, pageable, {.strategy = "staged", .chunks = 8, .threads = 2}, {.device_memory = 1_GiB});
  staged.run();
  for (std::uint64_t k = 0; k < pool_blocks; ++k)
    for (std::uint64_t e = 0; e < block_elements; ++e)
      ASSERT_EQ(pool[all[k] * block_elements + e],
                before[all[k] * block_elements + e] + static_cast<float>(k * block_elements + e));
}

TEST(JobOfBlocks, refuses_an_index_outside_of_the_pool_with_its_position_and_moves_nothing) {
  const auto gpu = planted_gpu();
  Pages<std::int64_t> pages(*gpu, 20);
  const auto job = pages.job();
  Prepared prepared = prepare(*gpu, plan(node_of(*gpu, planted_profile()), job), job);
  const std::vector<float> before(pages.state.begin(), pages.state.end());
  for (const std::int64_t wrong : {std::int64_t{40}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    pages.read[17] = wrong;
    const std::string message = message_of<UsageError>([&] { prepared.run(); });
    EXPECT_THAT(message, HasSubstr("pages: index " + std::to_string(wrong) + " at position 17 is outside of the pool"));
    EXPECT_TRUE(std::ranges::equal(pages.state, before));
  }
  pages.read[17] = 0;
  pages.changed[4] = pages.changed[9];
  EXPECT_THAT(message_of<UsageError>([&] { prepared.run(); }), HasSubstr("state: positions 4 and 9 both name block"));
  EXPECT_TRUE(std::ranges::equal(pages.state, before));
}

TEST(JobOfBlocks, is_refused_where_blocks_were_set_by_hand_and_do_not_fit) {
  const auto gpu = planted_gpu();
  const Node node = node_of(*gpu, planted_profile());
  std::vector<double> pool(100);
  std::vector<double> out(3);
  const std::vector<int> three{1, 2, 3};
  const auto described = Job{3}.in("p", pool, blocks(three, 80_B)).out("o", out).host_kernel([](Chunk, auto, auto) {});
  const auto refused = [&](const auto& change) {
    Job job = described;
    change(job.arrays[0]);
    return message_of<UsageError>([&] { plan(node, job); });
  };
  EXPECT_THAT(refused([](Array& a) { a.role = Role::broadcast; }), HasSubstr("is not cut into chunks"));
  EXPECT_THAT(refused([](Array& a) { a.blocks = rows(std::span<const int>(), 1); }), HasSubstr("no blocks"));
  EXPECT_THAT(refused([](Array& a) { a.blocks->pool = Bytes{0}; }), HasSubstr("0 blocks of 80 B"));
  EXPECT_THAT(refused([](Array& a) { a.size = a.size * 2; }), HasSubstr("do not fit its blocks"));
  EXPECT_THAT(refused([](Array& a) { a.reach = halo(1, 0); }), HasSubstr("do not fit its blocks"));
}

TEST(JobOfBlocks, of_regular_and_of_indexed_blocks_is_planned_with_a_mover_of_both) {
  const auto gpu = planted_gpu();
  pinned_vector<std::int32_t> wide(*gpu, 1 << 20);
  pinned_vector<std::int32_t> table(*gpu, 1 << 12);
  pinned_vector<std::int32_t> sums(*gpu, 256);
  const std::vector<std::uint16_t> ids(256, 7);
  const auto job = Job{256}
                       .in("wide", wide, strided(256, 4_KiB, 16_KiB))
                       .in("some", table, rows(ids, 4))
                       .out("sums", sums)
                       .kernel_time(microseconds(10))
                       .host_kernel([](Chunk chunk, auto, auto some, auto to) {
                         for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) to[i] = some[4 * i];
                       });
  std::iota(table.begin(), table.end(), 0);
  const Plan made = plan(node_of(*gpu, planted_profile()), job);
  EXPECT_NE(made.chosen.choice.mover_h2d->kind, Mover::Kind::strided);
  run(*gpu, made, job);
  EXPECT_EQ(sums[255], 28);
}

TEST(JobOfBlocks, is_refused_where_it_is_described_wrongly) {
  const auto gpu = planted_gpu();
  std::vector<double> pool(100);
  std::vector<double> out(10);
  const std::vector<int> none;
  const std::vector<int> three{1, 2, 3};
  const auto refused = [&](const auto& describe) { return message_of<UsageError>(describe); };
  EXPECT_THAT(refused([&] { static_cast<void>(Job{1}.in("p", pool, blocks(none, 8_B))); }),
              HasSubstr("array p has no blocks"));
  EXPECT_THAT(refused([&] { static_cast<void>(Job{1}.in("p", pool, blocks(three, 12_B))); }),
              HasSubstr("whole elements"));
  EXPECT_THAT(refused([&] { static_cast<void>(Job{1}.in("p", pool, blocks(three, 1_KiB))); }),
              HasSubstr("0 blocks of 1024 B"));
  EXPECT_THAT(refused([&] { static_cast<void>(Job{1}.in("p", pool, strided(11, 8_B, 80_B))); }),
              HasSubstr("10 blocks of 8 B, and 11"));
  EXPECT_THAT(refused([&] { static_cast<void>(Job{1}.in("p", pool, strided(2, 80_B, 8_B))); }), HasSubstr("overlap"));
  const auto job = Job{2}.in("p", pool, blocks(three, 80_B)).out("o", out).host_kernel([](Chunk, auto, auto) {});
  EXPECT_THAT(refused([&] { plan(node_of(*gpu, planted_profile()), job); }), HasSubstr("3 blocks for 2 items"));
}

}  // namespace
}  // namespace shiplap
