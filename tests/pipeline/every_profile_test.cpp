// Every built-in profile plans every built-in workload, or says which published figure is missing and which option
// supplies it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/plan/abilities.hpp"
#include "shiplap/profile/what_if.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {
namespace {

/// Arrays of moderate size, so that a plan takes less than a second.
Job small_job(std::string_view workload) { return find_workload(with_size(workload, 32_MiB)).job; }

/// The plan of the job, for which one layout of streams is tried.
Plan quick_plan(const Profile& profile, const Job& job) {
  return plan(node_of(profile), job, {.space = {.layouts = {Layout::three}, .fewer_calls = false}});
}

/// The reason why the profile lacks a link; "" for a profile that has one.
std::string missing_link(const Profile& profile) {
  const auto found = std::ranges::find(profile.missing, "links", &Missing::parameter);
  return found == profile.missing.end() ? "" : found->reason;
}

class EveryProfile : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryProfile, plans_every_workload_or_says_what_is_missing_and_which_option_supplies_it) {
  const Profile profile = find_profile(GetParam());
  const std::string lacking = missing_link(profile);
  for (const WorkloadHelp& workload : built_in_workloads()) {
    SCOPED_TRACE(workload.name);
    const Job job = small_job(workload.name);
    if (lacking.empty()) {
      EXPECT_NO_THROW(quick_plan(profile, job));
      continue;
    }
    try {
      quick_plan(profile, job);
      ADD_FAILURE() << "there is no link";
    } catch (const Unsupported& refusal) {
      const std::string text = refusal.what();
      EXPECT_NE(text.find(lacking), text.npos) << text;
      EXPECT_NE(text.find("`with_link`"), text.npos) << text;
    }
  }
  EXPECT_EQ(abilities(profile).find("`with_link`") != std::string::npos, !lacking.empty()) << abilities(profile);
}

TEST_P(EveryProfile, plans_every_workload_with_a_stated_link_and_says_that_it_is_assumed) {
  const Profile profile = find_profile(GetParam());
  if (missing_link(profile).empty()) GTEST_SKIP() << "it has a link";
  const Profile assumed = with_link(profile, "pcie2");
  for (const WorkloadHelp& workload : built_in_workloads()) {
    SCOPED_TRACE(workload.name);
    const Plan made = quick_plan(assumed, small_job(workload.name));
    EXPECT_TRUE(made.ranking.assumed_link);
    EXPECT_NE(made.explain().find("assumed link"), std::string::npos);
    EXPECT_TRUE(made.job.cost.origin.starts_with("derived")) << made.job.cost.origin;
  }
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, EveryProfile, ::testing::ValuesIn(built_in_profiles()), test_name);

}  // namespace
}  // namespace shiplap
