#include "shiplap/sim/host_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

namespace shiplap::sim {
namespace {

// Bytes a second of 1, 2, 3 … threads; more than the table has reach what its last row says.
HostThreads::Rate rates(std::vector<double> table) {
  return [table = std::move(table)](std::size_t threads) { return table.at(std::min(threads, table.size()) - 1); };
}

TEST(HostThreads, never_end_when_none_is_at_work) {
  const HostThreads threads(rates({10}));
  EXPECT_TRUE(std::isinf(threads.next_event()));
  EXPECT_GT(threads.next_event(), 0);
}

TEST(HostThreads, one_alone_moves_at_the_rate_of_one) {
  const auto rate = rates({10, 1000});
  HostThreads threads(rate);
  threads.start(7, 50, 3);
  EXPECT_DOUBLE_EQ(threads.next_event(), 8);
  EXPECT_EQ(threads.advance(), 7u);
  EXPECT_TRUE(std::isinf(threads.next_event()));
}

TEST(HostThreads, two_share_the_rate_of_two_and_the_first_of_equals_ends_first) {
  const auto rate = rates({10, 16});
  HostThreads threads(rate);
  threads.start(1, 40, 0);
  threads.start(2, 40, 0);
  EXPECT_DOUBLE_EQ(threads.next_event(), 5);  // 8 each
  EXPECT_EQ(threads.advance(), 1u);
  EXPECT_NEAR(threads.next_event(), 5, 1e-12);
  EXPECT_EQ(threads.advance(), 2u);
}

TEST(HostThreads, one_that_ends_speeds_up_the_other) {
  const auto rate = rates({10, 16});
  HostThreads threads(rate);
  threads.start(1, 80, 0);
  threads.start(2, 40, 0);
  EXPECT_DOUBLE_EQ(threads.next_event(), 5);
  EXPECT_EQ(threads.advance(), 2u);
  EXPECT_DOUBLE_EQ(threads.next_event(), 5 + 40 / 10.0);
  EXPECT_EQ(threads.advance(), 1u);
}

TEST(HostThreads, one_that_begins_slows_down_the_other) {
  const auto rate = rates({10, 16});
  HostThreads threads(rate);
  threads.start(1, 50, 0);
  threads.start(2, 80, 3);  // 20 of the first are left
  EXPECT_DOUBLE_EQ(threads.next_event(), 3 + 20 / 8.0);
  EXPECT_EQ(threads.advance(), 1u);
  EXPECT_DOUBLE_EQ(threads.next_event(), 5.5 + 60 / 10.0);
}

TEST(HostThreads, do_not_disturb_each_other_where_the_rate_grows_with_the_threads) {
  const auto rate = [](std::size_t threads) { return 10.0 * static_cast<double>(threads); };
  HostThreads threads(rate);
  threads.start(1, 100, 0);
  threads.start(2, 50, 1);
  threads.start(3, 70, 2);
  EXPECT_NEAR(threads.next_event(), 6, 1e-12);
  EXPECT_EQ(threads.advance(), 2u);
  EXPECT_NEAR(threads.next_event(), 9, 1e-12);
  EXPECT_EQ(threads.advance(), 3u);
  EXPECT_NEAR(threads.next_event(), 10, 1e-12);
  EXPECT_EQ(threads.advance(), 1u);
}

TEST(HostThreads, together_take_as_long_as_all_their_bytes_where_one_reaches_as_much_as_all) {
  const auto rate = rates({10});
  HostThreads threads(rate);
  for (std::uint32_t op = 0; op < 5; ++op) threads.start(op, 20.0 * (op + 1), 0);
  double last = 0;
  for (std::uint32_t op = 0; op < 5; ++op) {
    last = threads.next_event();
    EXPECT_EQ(threads.advance(), op);  // the shorter ones first
  }
  EXPECT_NEAR(last, (20 + 40 + 60 + 80 + 100) / 10.0, 1e-12);
}

TEST(HostThreads, can_pause_and_start_again_later) {
  const auto rate = rates({10, 16});
  HostThreads threads(rate);
  threads.start(1, 10, 0);
  EXPECT_EQ(threads.advance(), 1u);
  threads.start(2, 30, 100);
  EXPECT_DOUBLE_EQ(threads.next_event(), 103);
}

// Small steps of time, in each of which everybody at work moves its share. Returns when each op ends.
struct ChunkReach {
  double start;
  double bytes;
};
std::vector<double> stepped(const std::vector<ChunkReach>& pieces, const HostThreads::Rate& rate, double step) {
  std::vector<double> left;
  for (const ChunkReach& piece : pieces) left.push_back(piece.bytes);
  std::vector<double> ends(pieces.size(), -1);
  for (std::uint64_t k = 0; std::ranges::min(ends) < 0; ++k) {
    const double now = static_cast<double>(k) * step;
    std::vector<std::size_t> at_work;
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (pieces[i].start <= now && ends[i] < 0) at_work.push_back(i);
    for (const std::size_t i : at_work) {
      left[i] -= step * rate(at_work.size()) / static_cast<double>(at_work.size());
      if (left[i] <= 0) ends[i] = now + step;
    }
  }
  return ends;
}

TEST(HostThreads, end_when_small_steps_of_time_say_so) {
  std::mt19937_64 random(42);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
  };
  constexpr double step = 1e-4;
  for (int round = 0; round < 25; ++round) {
    std::vector<ChunkReach> pieces(1 + random() % 6);
    for (ChunkReach& piece : pieces) piece = {.start = uniform(0, 2), .bytes = uniform(1, 8)};
    std::vector<double> table{uniform(5, 10)};
    while (table.size() < 6) table.push_back(table.back() * uniform(0.9, 1.8));
    const auto rate = rates(table);

    HostThreads threads(rate);
    std::vector<double> ends(pieces.size(), -1);
    std::vector<std::size_t> order(pieces.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return pieces[i].start; });
    std::size_t begun = 0;
    double last = 0;
    while (begun < order.size() || !std::isinf(threads.next_event())) {
      if (begun < order.size() && pieces[order[begun]].start <= threads.next_event()) {
        const std::size_t i = order[begun++];
        threads.start(static_cast<std::uint32_t>(i), pieces[i].bytes, pieces[i].start);
        continue;
      }
      const double now = threads.next_event();
      ASSERT_GE(now, last);
      last = now;
      ends.at(threads.advance()) = now;
    }

    // Each beginning and end is off by a step, in which those at work move up to a few times as much.
    const std::vector<double> expected = stepped(pieces, rate, step);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      EXPECT_NEAR(ends[i], expected[i], 100 * step) << "round " << round << ", piece " << i << " of " << pieces.size();
  }
}

}  // namespace
}  // namespace shiplap::sim
