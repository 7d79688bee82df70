#include "shiplap/plan/step_plan_view.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shiplap {
namespace {

/// How the kernels of a pass are shown that begins with the first part.
std::string shown(const std::vector<std::string>& parts, std::size_t kernels) {
  StepPlan plan;
  plan.parts = parts;
  plan.kinds.emplace_back();
  plan.passes.push_back({.first = 0, .parts = kernels, .kind = 0});
  return step_plan_view(plan).passes.at(0).kernels;
}

TEST(StepPlanView, folds_kernels_that_repeat) {
  EXPECT_EQ(shown({"state"}, 1), "state");
  EXPECT_EQ(shown({"state"}, 5), "state x5");
  EXPECT_EQ(shown({"there", "back"}, 2), "there+back");
  EXPECT_EQ(shown({"there", "back"}, 3), "there+back+there");
  EXPECT_EQ(shown({"there", "back"}, 4), "(there+back) x2");
  EXPECT_EQ(shown({"there", "back"}, 7), "(there+back) x3+there");
  EXPECT_EQ(shown({"a", "a", "b"}, 6), "(a+a+b) x2");
}

}  // namespace
}  // namespace shiplap
