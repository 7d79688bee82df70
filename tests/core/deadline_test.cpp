#include "shiplap/core/deadline.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace shiplap {
namespace {

TEST(Deadline, passes_when_its_clock_reaches_it) {
  Seconds now{10};
  const Deadline deadline(Seconds{12}, [&] { return now; });
  EXPECT_FALSE(deadline.passed());
  EXPECT_DOUBLE_EQ(deadline.left().count(), 2);
  now = Seconds{12};
  EXPECT_TRUE(deadline.passed());
  now = Seconds{13};
  EXPECT_DOUBLE_EQ(deadline.left().count(), -1);
}

TEST(Deadline, never_passes_when_none_was_given) {
  EXPECT_FALSE(Deadline().passed());
  EXPECT_TRUE(std::isinf(Deadline().left().count()));
}

TEST(Deadline, takes_the_wall_clock_unless_told_otherwise) {
  EXPECT_TRUE(Deadline(wall_clock()).passed());
  EXPECT_FALSE(Deadline(wall_clock() + Seconds{3600}).passed());
}

}  // namespace
}  // namespace shiplap
