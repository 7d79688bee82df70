#include "experiments/in_turn.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "shiplap/core/error.hpp"

namespace shiplap::experiments {
namespace {

using Visits = std::vector<std::vector<double>>;

TEST(InTurn, two_visits_that_agree_are_steady_and_both_count) {
  const Settled s = settled(Visits{{1.00, 1.01, 1.02}, {1.00, 1.01, 1.03}});
  EXPECT_TRUE(s.steady);
  EXPECT_DOUBLE_EQ(s.ms, 1.01);
}

TEST(InTurn, a_visit_that_was_disturbed_throughout_is_left_out_but_one_visit_alone_is_not_believed) {
  const std::vector<double> disturbed{1.49, 1.50, 1.51};
  const std::vector<double> calm{1.00, 1.01, 1.02};
  const Settled one = settled(Visits{disturbed, calm});
  EXPECT_FALSE(one.steady);
  EXPECT_DOUBLE_EQ(one.ms, 1.01);
  const Settled two = settled(Visits{disturbed, calm, calm});
  EXPECT_TRUE(two.steady);
  EXPECT_DOUBLE_EQ(two.ms, 1.01);
}

TEST(InTurn, samples_that_scatter_are_not_steady_though_their_medians_agree) {
  const std::vector<double> scattered{0.8, 0.9, 1.0, 1.2, 1.3};  // quartiles 0.9 and 1.2
  EXPECT_FALSE(settled(Visits{scattered, scattered}).steady);
  // The same in units of 10 µs is what the clocks leave open.
  std::vector<double> tiny = scattered;
  for (double& ms : tiny) ms *= 0.01;
  EXPECT_TRUE(settled(Visits{tiny, tiny}).steady);
}

TEST(InTurn, equal_samples_have_seen_no_disturbance_and_need_one_visit) {
  EXPECT_TRUE(settled(Visits{{2.0, 2.0}}).steady);
  EXPECT_EQ(settled(Visits{{2.0, 2.0}}).noise, 0);
  EXPECT_THROW(settled(Visits{}), Error);
}

TEST(InTurn, runs_take_turns_and_what_goes_before_is_done_once_a_visit) {
  std::string order;
  InTurn turns({[&] { return order += 'a', 1.0; }, [&] { return order += 'b', 2.0; }}, [&] { order += '.'; });
  turns.visit(2);
  EXPECT_EQ(order, ".ababab");  // once untimed
  EXPECT_DOUBLE_EQ(turns.of(1).ms, 2.0);
}

TEST(InTurn, groups_are_visited_one_after_the_other_until_they_are_steady) {
  std::string order;
  double slow = 1.5;  // all through the first visit
  InTurn first({[&] { return order += '1', slow += 1e-6; }});
  InTurn second({[&] { return order += '2', slow = 1.0, 3.0; }});
  const std::array<InTurn*, 2> both{&first, &second};
  settle(both, 3);
  EXPECT_EQ(order, "1111222211111111");
  EXPECT_EQ(first.visits(), 3u) << "1.5, 1.0 and 1.0 ms";
  EXPECT_EQ(second.visits(), 1u) << "all equal";
  EXPECT_NEAR(first.of(0).ms, 1.0, 1e-4);
  EXPECT_TRUE(first.steady());
}

TEST(InTurn, what_never_becomes_steady_is_visited_four_times_and_says_so) {
  double next = 1;
  InTurn turns({[&] { return next *= 1.1; }});
  const std::array<InTurn*, 1> one{&turns};
  settle(one, 5);
  EXPECT_EQ(turns.visits(), most_visits);
  EXPECT_FALSE(turns.of(0).steady);
}

}  // namespace
}  // namespace shiplap::experiments
