#include "shiplap/plan/decide.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/workload/workload.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

constexpr const char* saxpy = "saxpy:n=16777216";

Facts facts_of(const char* text, MemoryKind kind, const Profile& profile) {
  Workload workload = find_workload(text);
  put_into(workload, kind);
  if (workload.job.cost.points.empty()) workload.job.cost = derived_cost(workload.job, profile);
  return {.job = workload.job, .limits = limits_of(profile)};
}

TEST(Decide, needs_no_device_and_takes_the_fastest_that_is_preferred) {
  const Profile profile = find_profile("h200");
  const Facts facts = facts_of(saxpy, MemoryKind::pinned, profile);
  const Decision decision = decide(profile, facts);
  const Ranking ranking = rank(facts.job, profile, facts.limits, {});
  EXPECT_EQ(decision.chosen.choice, ranking.best().choice);
  EXPECT_EQ(decision.memory, nullptr);
  EXPECT_FALSE(decision.pins);
}

TEST(Decide, pins_pageable_arrays_for_many_runs_and_not_for_one) {
  const Profile profile = find_profile("h200");
  const Facts facts = facts_of(saxpy, MemoryKind::pageable, profile);
  const Decision once = decide(profile, facts, {.runs = 1});
  const Decision often = decide(profile, facts, {.runs = 1000});
  EXPECT_FALSE(once.pins);
  EXPECT_EQ(once.job.arrays.front().memory, MemoryKind::pageable);
  ASSERT_TRUE(often.pins);
  EXPECT_EQ(often.job.arrays.front().memory, MemoryKind::pinned);
  EXPECT_GT(often.pinning, Seconds{0});
  EXPECT_LT(often.chosen.predicted.value, once.chosen.predicted.value);
  EXPECT_FALSE(decide(profile, facts, {.runs = 1000, .may_pin = false}).pins);
}

TEST(Decide, leaves_arrays_that_the_device_cannot_pin) {
  const Profile profile = find_profile("h200");
  Facts facts = facts_of(saxpy, MemoryKind::pageable, profile);
  facts.why_not_pinned = "the limit of locked memory is 64 KiB";
  const Decision decision = decide(profile, facts, {.runs = 1000});
  EXPECT_FALSE(decision.pins);
  ASSERT_NE(decision.memory, nullptr);
  EXPECT_EQ(decision.memory->find(Preparation::registered), nullptr);
  ASSERT_FALSE(decision.memory->unknown.empty());
  EXPECT_EQ(decision.memory->unknown.front().reason, facts.why_not_pinned);
}

TEST(Decide, says_how_many_runs_a_strategy_for_pinned_arrays_needs) {
  const Profile profile = find_profile("h200");
  const Facts facts = facts_of(saxpy, MemoryKind::pageable, profile);
  const DecisionOptions streams{.space = {.strategies = {"streams"}}};
  EXPECT_THAT(message_of<Unsupported>([&] { decide(profile, facts, streams); }), HasSubstr("`runs` or more"));
}

TEST(Settle, makes_the_winner_of_a_race_the_choice_with_its_own_prediction) {
  const Profile profile = find_profile("h200");
  const Facts facts = facts_of(saxpy, MemoryKind::pinned, profile);
  Decision decision = decide(profile, facts);
  Choice winner = decision.chosen.choice;
  winner.chunks = 3;
  settle(profile, winner, decision);
  EXPECT_EQ(decision.chosen.choice, winner);
  EXPECT_EQ(decision.chosen.predicted.value, predict(facts.job, profile, winner, facts.limits).predicted.value);
}

TEST(Settle, adds_what_the_choice_assumes_about_launches_that_do_not_fill_the_gpu) {
  const Profile profile = find_profile("h200");
  Facts facts = facts_of("saxpy:n=65536", MemoryKind::pinned, profile);
  facts.job.cost = {.points = {{facts.job.items, Interval<Seconds>::exact(milliseconds(1))}}, .origin = "stated"};
  Choice cut{.strategy = "streams", .chunks = 16};
  Decision decision = decide(profile, facts);
  settle(profile, cut, decision);
  EXPECT_THAT(decision.ranking.assumptions.back(), HasSubstr("SMs"));
  Decision whole = decide(profile, facts);
  cut.chunks = 1;
  settle(profile, cut, whole);
  for (const std::string& assumption : whole.ranking.assumptions) EXPECT_THAT(assumption, Not(HasSubstr("SMs")));
}

TEST(Settle, says_when_the_kernel_waits_or_is_not_captured) {
  const Profile profile = find_profile("h200");
  Facts facts = facts_of(saxpy, MemoryKind::pinned, profile);
  facts.job.waits = true;
  facts.job.capturable = false;
  Decision decision = decide(profile, facts);
  const std::size_t before = decision.ranking.assumptions.size();
  settle(profile, std::nullopt, decision);
  EXPECT_EQ(decision.ranking.assumptions.size(), before + 2);
}

}  // namespace
}  // namespace shiplap
