#include "shiplap/cluster/exchange.hpp"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Job rows_with_halo(std::uint64_t rows, std::uint64_t columns, const Reach& reach) {
  return Job{rows, "halos"}
      .shaped<const float>("u", Role::in, rows * columns, reach)
      .shaped<const float>("v", Role::in, rows * columns)
      .shaped<float>("out", Role::out, rows * columns);
}

TEST(HaloMessages, are_the_rows_beside_each_share) {
  const std::vector<ItemRange> shares{{0, 3}, {3, 4}, {7, 3}};
  const auto messages = halo_messages(rows_with_halo(10, 5, halo(1, 1)), shares);
  const Bytes row{20};
  EXPECT_THAT(messages, ElementsAre(HaloMessage{1, 0, 0, {row * 3, row}}, HaloMessage{0, 1, 0, {row * 2, row}},
                                    HaloMessage{2, 1, 0, {row * 7, row}}, HaloMessage{1, 2, 0, {row * 6, row}}));
}

TEST(HaloMessages, are_none_without_a_halo) {
  const std::vector<ItemRange> shares{{0, 3}, {3, 7}};
  EXPECT_THAT(halo_messages(rows_with_halo(10, 5, own_items), shares), IsEmpty());
}

bool is_items(const ItemRange& range, std::uint64_t first, std::uint64_t count) {
  return range == ItemRange{first, count};
}

TEST(EdgeItems, are_those_that_read_or_are_read_by_other_ranks) {
  const Job job = rows_with_halo(100, 5, halo(2, 1));
  const std::vector<ItemRange> shares{{0, 30}, {30, 40}, {70, 30}};
  const EdgeItems first = items_of_edges(job, shares, 0);
  EXPECT_TRUE(is_items(first.first, 0, 0) && is_items(first.inner, 0, first.inner.count));
  const EdgeItems middle = items_of_edges(job, shares, 1);
  // Its two first rows read rows of the rank before, which reads its first one; two of its last rows are read behind
  // it.
  EXPECT_EQ(middle.first.first, 30u);
  EXPECT_EQ(middle.last.first + middle.last.count, 70u);
  EXPECT_EQ(middle.first.count + middle.inner.count + middle.last.count, 40u);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> shared;  // bytes of rows 28 to 29, 30, 68 to 69 and 70
  for (const HaloMessage& message : halo_messages(job, shares))
    if (message.from == 1 || message.to == 1)
      shared.emplace_back(message.bytes.offset.count, message.bytes.offset.count + message.bytes.length.count);
  ASSERT_EQ(shared.size(), 4u);
  for (std::uint64_t row = 30; row < 70; ++row) {
    const ByteRange reach = reach_of(job, job.arrays[0], {row, 1});
    bool touches = false;
    for (const auto& [begin, end] : shared)
      touches = touches || (reach.offset.count < end && begin < reach.offset.count + reach.length.count);
    const bool is_inner = row >= middle.inner.first && row < middle.inner.first + middle.inner.count;
    EXPECT_EQ(is_inner, !touches) << row;
  }
}

TEST(EdgeItems, are_none_without_another_rank_and_all_of_a_thin_share) {
  const Job job = rows_with_halo(10, 5, halo(1, 1));
  const std::vector<ItemRange> alone{{0, 10}};
  EXPECT_TRUE(is_items(items_of_edges(job, alone, 0).inner, 0, 10));
  const std::vector<ItemRange> thin{{0, 4}, {4, 2}, {6, 4}};
  const EdgeItems edges = items_of_edges(job, thin, 1);
  EXPECT_TRUE(is_items(edges.first, 4, 2) && edges.inner.count == 0 && edges.last.count == 0);
}

/// Every byte that a rank reaches and does not own comes from the rank that owns it, once.
void expect_complete(const Job& job, const std::vector<ItemRange>& shares) {
  const auto messages = halo_messages(job, shares);
  const auto owner_of = [&](std::uint64_t row) {
    for (std::size_t r = 0; r < shares.size(); ++r)
      if (row >= shares[r].first && row < shares[r].first + shares[r].count) return r;
    return shares.size();
  };
  const std::uint64_t row_bytes = job.arrays[0].size.count / job.items;
  using Piece = std::tuple<std::size_t, std::size_t, std::uint64_t>;
  std::set<Piece> expected;
  for (std::size_t r = 0; r < shares.size(); ++r)
    for (std::uint64_t row = 0; row < job.items && shares[r].count > 0; ++row) {
      const bool reached = row + job.arrays[0].reach.before >= shares[r].first &&
                           row < shares[r].first + shares[r].count + job.arrays[0].reach.after;
      if (reached && owner_of(row) != r) expected.insert({owner_of(row), r, row});
    }
  std::set<Piece> sent;
  for (const HaloMessage& m : messages) {
    ASSERT_EQ(m.bytes.offset.count % row_bytes, 0u);
    for (std::uint64_t at = 0; at < m.bytes.length.count; at += row_bytes)
      EXPECT_TRUE(sent.insert({m.from, m.to, (m.bytes.offset.count + at) / row_bytes}).second) << "sent twice";
  }
  EXPECT_EQ(sent, expected);
}

TEST(HaloMessages, are_complete_for_shares_of_any_size) {
  std::mt19937 random(64);
  const auto below = [&](std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(random); };
  for (int trial = 0; trial < 200; ++trial) {
    const std::uint64_t rows = 1 + below(30);
    std::vector<ItemRange> shares;
    std::uint64_t next = 0;
    for (std::uint64_t ranks = 1 + below(7); ranks > 0; --ranks) {
      const std::uint64_t count = ranks == 1 ? rows - next : below(std::min<std::uint64_t>(4, rows - next));
      shares.push_back({next, count});
      next += count;
    }
    expect_complete(rows_with_halo(rows, 3, halo(below(9), below(9))), shares);
  }
}

TEST(HaloMessages, of_a_mapping_come_from_the_first_rank_that_reaches_the_elements) {
  // Item i reaches the elements [2 i, 2 i + 3): one of them belongs to the next item, too.
  const Job job = Job{4, "mapped"}
                      .shaped<const float>("u", Role::in, 9, mapped_by([](ItemRange r) {
                                             return ElementRange{2 * r.first, 2 * r.count + 1};
                                           }))
                      .shaped<float>("out", Role::out, 4);
  const std::vector<ItemRange> shares{{0, 2}, {2, 2}};
  EXPECT_THAT(halo_messages(job, shares), ElementsAre(HaloMessage{0, 1, 0, {16_B, 4_B}}));
}

TEST(HaloMessages, are_for_consecutive_shares) {
  const std::vector<ItemRange> shares{{0, 3}, {4, 6}};
  EXPECT_THROW(halo_messages(rows_with_halo(10, 5, halo(1, 1)), shares), UsageError);
}

TEST(ExchangeTime, is_a_latency_and_the_larger_direction) {
  const std::vector<ItemRange> shares{{0, 3}, {3, 4}, {7, 3}};
  const auto messages = halo_messages(rows_with_halo(10, 250'000, halo(2, 1)), shares);
  const Network network{.bandwidth = gigabytes_per_second(1), .latency = microseconds(2), .origin = "stated"};
  // A row has 1 MB. Rank 1 receives 2 rows from above and 1 from below, and sends 1 up and 2 down.
  EXPECT_NEAR(in_microseconds(exchange_time(messages, 0, network)), 2 + 2000, 1e-6);
  EXPECT_NEAR(in_microseconds(exchange_time(messages, 1, network)), 2 + 3000, 1e-6);
  EXPECT_NEAR(in_microseconds(exchange_time(messages, 2, network)), 2 + 2000, 1e-6);
  EXPECT_EQ(longest_exchange(messages, 3, network), exchange_time(messages, 1, network));
  EXPECT_EQ(exchange_time({}, 0, network), Seconds{0});
}

}  // namespace
}  // namespace shiplap
