#include "shiplap/sim/timers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace shiplap::sim {
namespace {

TEST(Timers, are_due_by_time_and_op_in_whatever_order_they_are_set) {
  std::mt19937 random(3);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<Timer> due;
    Timers timers([&](const Timer& timer) {
      due.push_back(timer);
      return no_op;
    });
    std::vector<Timer> waiting;
    const auto is_later = [](const Timer& a, const Timer& b) { return a > b; };
    for (int step = 0; step < 300; ++step) {
      const bool sets = waiting.empty() || random() % 3 > 0;
      if (sets) {
        // A few long sequences in the order of time, as calls are, and others in between.
        const double time = random() % 4 > 0 ? step / 10 : static_cast<double>(random() % 40);
        waiting.push_back({.time = time, .op = static_cast<OpIndex>(random() % 5), .moment = Moment::ready});
        timers.set(waiting.back());
      } else {
        const auto first = std::ranges::max_element(waiting, is_later);
        ASSERT_EQ(timers.next_event(), first->time);
        timers.advance();
        EXPECT_EQ(due.back().time, first->time);
        EXPECT_EQ(due.back().op, first->op);
        waiting.erase(first);
      }
    }
    while (!waiting.empty()) {
      timers.advance();
      waiting.pop_back();
    }
    EXPECT_EQ(timers.next_event(), never);
  }
}

}  // namespace
}  // namespace shiplap::sim
