#include "experiments/gomezluna2012/unstreamed_probe.hpp"

#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "tests/support/adaptive_bed.hpp"

namespace shiplap::experiments::gomez_luna {
namespace {

const std::vector<std::uint32_t> streams{1, 2, 4, 8, 16, 32};

StageTimes stages(double in, double kernel, double out) {
  return {.h2d = microseconds(in), .kernel = microseconds(kernel), .d2h = microseconds(out)};
}

TEST(UnstreamedProbe, takes_the_number_of_streams_of_the_papers_equations) {
  UnstreamedProbe policy(streams, {.per_stream = microseconds(2)});
  EXPECT_EQ(policy.choice(0), 0u);
  EXPECT_EQ(policy.trace_level(0), TraceLevel::stages);
  const auto decision =
      policy.observe({.batch = 0, .choice = 0, .span = microseconds(190), .stages = stages(100, 80, 10)});
  ASSERT_TRUE(decision);
  // Eq 5 with its optimum √(t_E/t_sc) = 6.3: 100 + 80/8 + 10 + 16 = 136 us for 8, 138 for 4, 147 for 16.
  EXPECT_EQ(streams[decision->to], 8u);
  EXPECT_NEAR(in_microseconds(decision->period_to), 136, 1e-9);
  EXPECT_EQ(policy.choice(1), 3u);
  EXPECT_EQ(policy.trace_level(1), TraceLevel::span);
}

TEST(UnstreamedProbe, stays_without_streams_where_they_do_not_pay) {
  UnstreamedProbe policy(streams, {.per_stream = microseconds(200)});
  policy.choice(0);
  policy.observe({.batch = 0, .choice = 0, .span = microseconds(190), .stages = stages(100, 80, 10)});
  EXPECT_EQ(policy.choice(1), 0u);
}

/// Batches of which each takes what is given.
struct Fed {
  UnstreamedProbe policy{streams, {.per_stream = microseconds(2)}};
  std::uint64_t batch = 0;
  void pass(double span, const StageTimes& alone) {
    const std::uint32_t choice = policy.choice(batch);
    BatchObservation seen{.batch = batch, .choice = choice, .span = microseconds(span)};
    if (policy.trace_level(batch) == TraceLevel::stages) seen.stages = alone;
    policy.observe(seen);
    ++batch;
  }
};

TEST(UnstreamedProbe, runs_one_batch_without_streams_behind_two_that_are_off) {
  Fed fed;
  const StageTimes before = stages(100, 80, 10);
  const StageTimes after = stages(100, 320, 10);
  fed.pass(190, before);
  for (int i = 0; i < 10; ++i) fed.pass(138, before);
  EXPECT_EQ(fed.policy.probes(), 1u);
  fed.pass(350, after);
  fed.pass(138, before);
  fed.pass(350, after);
  EXPECT_EQ(fed.policy.probes(), 1u) << "not two in a row";
  fed.pass(350, after);
  fed.pass(430, after);
  EXPECT_EQ(fed.policy.probes(), 2u);
  for (int i = 0; i < 10; ++i) fed.pass(345, after);
  EXPECT_EQ(fed.policy.probes(), 2u);
}

TEST(UnstreamedProbe, an_equation_that_is_off_gives_way_to_the_first_batch_in_streams) {
  Fed fed;
  const StageTimes alone = stages(100, 80, 10);
  fed.pass(190, alone);
  for (int i = 0; i < 20; ++i) fed.pass(180, alone);
  EXPECT_EQ(fed.policy.probes(), 1u) << "136 us were predicted";
}

TEST(UnstreamedProbe, needs_a_choice_without_streams) { EXPECT_THROW(UnstreamedProbe({2, 4}), Error); }

/// The time of 400 batches with the protocol over that with Adaptive.
double probing_over_adaptive(const adaptive_bed::Cost& cost) {
  adaptive_bed::Bed bed({.in_flight = 1});  // the protocol's batches are waited for
  std::vector<std::uint32_t> chunks;
  for (const Choice& choice : bed.adaptive.table().choices) chunks.push_back(choice.chunks);
  // t_sc by what 8 and 32 chunks take on the planted node: (250 - 77) / 24 us.
  UnstreamedProbe probe(chunks, {.per_stream = microseconds(7.2)});
  const Seconds probing = bed.elapsed(probe, 400, cost);
  return probing / bed.elapsed(400, cost);
}

TEST(UnstreamedProbe, takes_longer_than_adaptive_on_batches_that_drift_and_on_shocks) {
  EXPECT_GT(probing_over_adaptive(adaptive_bed::drifting), 1 / 0.97);
  EXPECT_GT(probing_over_adaptive(adaptive_bed::with_shocks), 1 / 0.97);
}

}  // namespace
}  // namespace shiplap::experiments::gomez_luna
