#include "shiplap/plan/learned_ratios.hpp"

#include <gtest/gtest.h>

namespace shiplap {
namespace {

TEST(LearnedRatios, of_what_nothing_is_known_of_are_nothing) {
  const LearnedRatios learned(2);
  EXPECT_EQ(learned.ratio_of(0, 1), 0);
  EXPECT_EQ(learned.ratio_or_typical(1, 64), 0);
  EXPECT_FALSE(learned.knows_any(0));
}

TEST(LearnedRatios, hold_for_kernels_that_take_about_as_long_and_else_until_more_is_known) {
  LearnedRatios learned(2);
  learned.set(0, 1, 0.1);
  EXPECT_EQ(learned.ratio_of(0, 1.15), 0.1);
  EXPECT_TRUE(learned.knows(0, 1.15));
  EXPECT_FALSE(learned.knows(0, 1.3));
  EXPECT_EQ(learned.ratio_of(0, 1.3), 0.1) << "the nearest";
  learned.set(0, 4, 0.4);
  EXPECT_EQ(learned.ratio_of(0, 3), 0.4);
  EXPECT_EQ(learned.ratio_of(0, 1.3), 0.1);
  EXPECT_EQ(learned.ratio_of(0, 1000), 0.4);
  EXPECT_EQ(learned.ratio_of(0, 1e-9), 0.1);
  EXPECT_EQ(learned.ratio_of(1, 1), 0) << "another choice's";
}

TEST(LearnedRatios, of_other_choices_are_typical_of_one_that_was_not_tried_there) {
  LearnedRatios learned(4);
  learned.set(0, 2, 0.3);
  learned.set(1, 2, 0.1);
  learned.set(2, 2, 0.2);
  learned.set(3, 1, -0.5);
  EXPECT_DOUBLE_EQ(learned.ratio_or_typical(3, 2), 0.2) << "their median, though it is known of another kernel";
  EXPECT_EQ(learned.ratio_or_typical(3, 1), -0.5) << "what it is known of";
  EXPECT_EQ(learned.ratio_or_typical(0, 2), 0.3);
  EXPECT_DOUBLE_EQ(learned.ratio_or_typical(0, 1), -0.1) << "half of what the only one there is off by, and of its own";
}

}  // namespace
}  // namespace shiplap
