#include "shiplap/core/deadline.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <ctime>
#include <limits>

#include "shiplap/core/error.hpp"

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

TEST(Deadline, of_a_limit_that_is_no_time_is_refused) {
  for (const double limit : {-1.0, -1e-9, std::nan("")}) EXPECT_THROW(Deadline::in(Seconds{limit}), UsageError);
  EXPECT_TRUE(std::isinf(Deadline::in(Seconds{0}).left().count()));
  EXPECT_FALSE(Deadline::in(Seconds{std::numeric_limits<double>::infinity()}).passed());
}

TEST(TimeSince1970, is_that_of_the_system) {
  const std::time_t before = std::time(nullptr);
  const double now = time_since_1970().count();
  EXPECT_GE(now, static_cast<double>(before) - 1);  // the system may round its seconds down a little later
  EXPECT_LE(now, static_cast<double>(std::time(nullptr)) + 1);
}

TEST(Deadline, takes_the_wall_clock_unless_told_otherwise) {
  EXPECT_TRUE(Deadline(steady_time()).passed());
  EXPECT_FALSE(Deadline(steady_time() + Seconds{3600}).passed());
}

TEST(SleepFor, does_not_return_at_once_when_the_time_is_more_than_clocks_can_count) {
  for (const double seconds : {1e300, std::numeric_limits<double>::infinity()}) {
    const pid_t child = fork();
    if (child == 0) {
      sleep_for(Seconds{seconds});
      _exit(0);
    }
    sleep_for(milliseconds(300));
    EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it has returned from a sleep of " << seconds << " s";
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

}  // namespace
}  // namespace shiplap
