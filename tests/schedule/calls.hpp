// What the agents of a schedule do to submit it, as text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shiplap/schedule/submission.hpp"
#include "shiplap/schedule/validate.hpp"
#include "tests/schedule/builder.hpp"

namespace shiplap::testing_schedules {

inline constexpr AgentId main_agent{0};
inline constexpr AgentId worker{1};

/// "await 0, submit 1 (3), finish 1": what a step waits for, or the op that it submits (with how many), records or
/// ends.
inline std::string text(const std::vector<SubmissionStep>& steps) {
  std::string all;
  for (const SubmissionStep& step : steps) {
    const bool waits = step.kind == SubmissionStep::Kind::await || step.kind == SubmissionStep::Kind::synchronize ||
                       step.kind == SubmissionStep::Kind::wait;
    const char* names[] = {"await", "synchronize", "wait", "submit", "record", "finish"};
    all += (all.empty() ? "" : ", ") + std::string(names[static_cast<int>(step.kind)]) + " " +
           std::to_string((waits ? step.awaited : step.op).value);
    if (step.batch > 1) all += " (" + std::to_string(step.batch) + ")";
  }
  return all;
}

/// The steps of an agent; fails the test when the schedule is unsound.
inline std::string calls(const Builder& built, AgentId agent = main_agent) {
  EXPECT_EQ(joined(problems(built.schedule)), "");
  return text(submission(built.schedule).agents.at(agent.index()));
}

}  // namespace shiplap::testing_schedules
