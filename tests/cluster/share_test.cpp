#include "shiplap/cluster/share.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <random>

#include "shiplap/cluster/share_job.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double share_rounding = 1e-9;

Job items_with_blocks(std::uint64_t items, std::uint64_t items_per_block = 1) {
  Job job;
  job.items = items;
  job.name = "even";
  job.items_per_block = items_per_block;
  return job.shaped<const float>("x", Role::in, items).shaped<float>("y", Role::out, items);
}

/// Rows whose lengths grow: row i has i + 1 elements.
Job growing_rows(std::uint64_t rows) {
  const auto begin = [](std::uint64_t row) { return row * (row + 1) / 2; };
  return Job{rows, "growing"}
      .shaped<const float>("values", Role::in, begin(rows), mapped_by([begin](ItemRange r) {
                             return ElementRange{begin(r.first), begin(r.first + r.count) - begin(r.first)};
                           }))
      .shaped<float>("sums", Role::out, rows);
}

/// Times of a node with a fixed cost and a time per item, in ms.
NodeTimes affine(double fixed, double per_item) {
  return NodeTimes({{10, milliseconds(fixed + 10 * per_item)}, {1000, milliseconds(fixed + 1000 * per_item)}});
}

std::vector<std::uint64_t> item_counts(const Shares& shares) {
  std::vector<std::uint64_t> result;
  for (const ItemRange& items : shares.items) result.push_back(items.count);
  return result;
}

Seconds time_between(const Job& job, const NodeTimes& times, std::uint64_t from, std::uint64_t to) {
  return to > from ? times.at(items_before(job, to) - items_before(job, from)) : Seconds{0};
}

/// The least longest time of all cuts between units, by trying them all.
Seconds best_of_all_cuts(const Job& job, const std::vector<NodeTimes>& times, std::uint64_t unit, std::size_t rank = 0,
                         std::uint64_t from = 0) {
  if (rank + 1 == times.size()) return time_between(job, times[rank], from, job.items);
  Seconds best{std::numeric_limits<double>::infinity()};
  for (std::uint64_t to = from; to <= job.items; to = to == job.items ? to + 1 : std::min(to + unit, job.items)) {
    const Seconds own = time_between(job, times[rank], from, to);
    if (own >= best) break;
    best = std::min(best, std::max(own, best_of_all_cuts(job, times, unit, rank + 1, to)));
  }
  return best;
}

void expect_consecutive(const Job& job, const Shares& shares) {
  std::uint64_t next = 0;
  for (const ItemRange& items : shares.items) {
    EXPECT_EQ(items.first, next);
    next += items.count;
  }
  EXPECT_EQ(next, job.items);
}

TEST(Share, gives_equal_nodes_equal_shares) {
  const Shares shares = share(items_with_blocks(100), {affine(1, 1), affine(1, 1), affine(1, 1), affine(1, 1)});
  EXPECT_THAT(item_counts(shares), ElementsAre(25, 25, 25, 25));
}

TEST(Share, gives_a_node_of_twice_the_rate_twice_the_items) {
  EXPECT_THAT(item_counts(share(items_with_blocks(90), {affine(0, 2), affine(0, 1)})), ElementsAre(30, 60));
}

TEST(Share, spreads_what_is_left_over_instead_of_leaving_the_last_rank_short) {
  const Shares shares = share(items_with_blocks(101), std::vector<NodeTimes>(10, affine(0, 1)));
  const auto all = item_counts(shares);
  EXPECT_EQ(std::ranges::max(all), 11u);
  EXPECT_GE(std::ranges::min(all), 9u);
}

TEST(Share, counts_the_fixed_cost_of_a_rank) {
  // 10 + x = 40 + (100 - x)
  EXPECT_THAT(item_counts(share(items_with_blocks(100), {affine(10, 1), affine(40, 1)})), ElementsAre(65, 35));
}

TEST(Share, gives_a_rank_nothing_whose_fixed_cost_is_longer_than_the_others_need) {
  EXPECT_THAT(item_counts(share(items_with_blocks(10), {affine(0, 1), affine(500, 1), affine(0, 1)})),
              ElementsAre(5, 0, 5));
}

TEST(Share, leaves_ranks_without_items_when_there_are_too_few) {
  const Shares shares = share(items_with_blocks(3), std::vector<NodeTimes>(5, affine(1, 1)));
  EXPECT_EQ(std::ranges::count(item_counts(shares), 1u), 3);
  EXPECT_EQ(std::ranges::count(item_counts(shares), 0u), 2);
  expect_consecutive(items_with_blocks(3), shares);
}

TEST(Share, ends_at_blocks_of_the_kernel) {
  const Shares shares = share(items_with_blocks(1000, 64), {affine(0, 1), affine(0, 3), affine(0, 2)});
  expect_consecutive(items_with_blocks(1000, 64), shares);
  for (std::size_t rank = 0; rank + 1 < 3; ++rank) EXPECT_EQ(shares.items[rank].first % 64, 0u);
}

TEST(Share, is_as_good_as_the_best_of_all_cuts) {
  std::mt19937 random(20261126);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int trial = 0; trial < 150; ++trial) {
    const auto items = static_cast<std::uint64_t>(between(1, 60));
    const bool uneven = trial % 3 == 0;
    const std::uint64_t block = trial % 4 == 1 ? 4 : 1;
    Job job = uneven ? growing_rows(items) : items_with_blocks(items, block);
    std::vector<NodeTimes> times;
    const auto ranks = static_cast<std::size_t>(between(1, 4.99));
    for (std::size_t r = 0; r < ranks; ++r) {
      std::vector<NodeTimes::Point> points;
      double x = 0;
      double y = between(0, 5);
      for (int p = 0; p < 4; ++p) points.push_back({x += between(0.5, 20), milliseconds(y += between(0.1, 30))});
      times.push_back(NodeTimes(points, false, milliseconds(trial % 5 == 2 ? between(0, 10) : 0)));
    }
    const std::uint64_t unit = items / job.items_per_block >= ranks ? job.items_per_block : 1;
    const Seconds best = best_of_all_cuts(job, times, unit);
    const Shares shares = share(job, times);
    expect_consecutive(job, shares);
    EXPECT_NEAR(shares.longest() / best, 1, share_rounding) << "trial " << trial;
    for (std::size_t r = 0; r < ranks; ++r) {
      const ItemRange& own = shares.items[r];
      EXPECT_NEAR((shares.predicted[r] - time_between(job, times[r], own.first, own.first + own.count)).count(), 0,
                  1e-15);
    }
  }
}

TEST(Share, counts_items_with_more_data_for_more) {
  // Half of the elements of 1000 growing rows lie before row 1000 / sqrt(2).
  const Shares shares = share(growing_rows(1000), {affine(0, 1), affine(0, 1)});
  EXPECT_NEAR(static_cast<double>(shares.items[0].count), 707, 1);
}

TEST(Share, gives_a_node_no_more_than_its_memory_holds) {
  const NodeTimes small({{10, milliseconds(1)}, {20, milliseconds(2)}}, true);
  EXPECT_THAT(item_counts(share(items_with_blocks(100), {small, affine(0, 1)})), ElementsAre(20, 80));
  EXPECT_THAT(
      [&] {
        share(items_with_blocks(100), {small, small});
      },
      ::testing::ThrowsMessage<Unsupported>(HasSubstr("use more ranks")));
}

TEST(Share, is_for_many_ranks) {
  std::vector<NodeTimes> times;
  for (int r = 0; r < 512; ++r) times.push_back(affine(1, 1 + r % 2));
  const Job job = items_with_blocks(1u << 26);
  const Shares shares = share(job, times);
  expect_consecutive(job, shares);
  // Fast and slow nodes end together, so the harmonic sum of their times per item decides.
  EXPECT_NEAR(shares.longest().count() * 1e3, 1 + (1u << 26) / (256 * 1.5), 3);
}

TEST(Share, refuses_no_ranks) {
  EXPECT_THAT([] { share(items_with_blocks(4), {}); }, ::testing::ThrowsMessage<UsageError>(HasSubstr("0 ranks")));
}

TEST(NodeTimes, are_lines_between_points_and_beyond_them) {
  const NodeTimes times({{10, milliseconds(20)}, {20, milliseconds(30)}, {40, milliseconds(70)}});
  EXPECT_EQ(times.at(0), Seconds{0});
  EXPECT_NEAR(in_milliseconds(times.at(1)), 11, share_rounding);
  EXPECT_NEAR(in_milliseconds(times.at(15)), 25, share_rounding);
  EXPECT_NEAR(in_milliseconds(times.at(40)), 70, share_rounding);
  EXPECT_NEAR(in_milliseconds(times.at(50)), 90, share_rounding);
}

TEST(NodeTimes, are_the_inverse_of_the_items_within_a_time) {
  const NodeTimes times({{10, milliseconds(20)}, {20, milliseconds(20)}, {40, milliseconds(70)}}, false,
                        milliseconds(3));
  EXPECT_EQ(times.items_within(milliseconds(2)), 0);
  EXPECT_EQ(times.items_within(milliseconds(23)), 20) << "the flat part counts as a whole";
  for (const double items : {25.0, 40.0, 64.0}) EXPECT_NEAR(times.items_within(times.at(items)), items, share_rounding);
}

TEST(NodeTimes, never_decrease) {
  const NodeTimes times({{10, milliseconds(20)}, {20, milliseconds(15)}, {40, milliseconds(70)}});
  EXPECT_EQ(times.at(20), milliseconds(20));
}

TEST(NodeTimes, refuse_what_is_not_positive) {
  EXPECT_THROW(NodeTimes({}), UsageError);
  EXPECT_THROW(NodeTimes({{0, milliseconds(1)}}), UsageError);
  EXPECT_THROW(NodeTimes({{1, milliseconds(0)}}), UsageError);
  EXPECT_THROW(NodeTimes({{1, Seconds{std::numeric_limits<double>::quiet_NaN()}}}), UsageError);
}

}  // namespace
}  // namespace shiplap
