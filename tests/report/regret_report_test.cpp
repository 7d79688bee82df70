#include "shiplap/report/regret_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

SweptChoice swept_in(double ms) {
  return {.choice = {.strategy = "streams", .chunks = 4}, .predicted = {}, .observed = milliseconds(ms)};
}

/// A job whose plan is 1 % and whose race 10 % slower than the best.
JobRegret job_that_ran(bool simulated) {
  return {.name = "saxpy:n=1024",
          .simulated = simulated,
          .best = swept_in(100),
          .planned = swept_in(101),
          .raced = swept_in(110),
          .near = {{.choice = {.strategy = "streams"}, .observed = milliseconds(100), .error = 0.03}}};
}

TEST(RegretReport, begins_with_how_good_the_choices_are_and_says_when_they_were_simulated) {
  const std::vector<JobRegret> observed{job_that_ran(false)};
  EXPECT_THAT(regret_report(observed),
              StartsWith("The plan's choice is within 2 % of the sweep's best in 100 % of 1 jobs (worst"));
  EXPECT_THAT(regret_report(observed), Not(HasSubstr("simulated")));
  EXPECT_THAT(regret_report({job_that_ran(true)}, {.width = 120}),
              HasSubstr("of 1 jobs, all simulated (worst +1.0 %)"));
}

}  // namespace
}  // namespace shiplap
