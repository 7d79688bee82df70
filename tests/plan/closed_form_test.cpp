// Candidates that a closed form ranks, on the machine of van Werkhoven et al. 2014 whose Tables I and II hold all that
// the equations need.
#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/models.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/workload/workload.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// The equation of state with one output: 42 levels.
Job state(Seconds kernel) { return in_out_job(Bytes{704643072}, Bytes{352321536}, kernel, 42); }

Job buoydiff(Seconds kernel) {
  Job job = find_workload("pop-buoydiff").job;
  job.cost = {.points = {{job.items, Interval<Seconds>::exact(kernel)}}, .origin = "stated"};
  return job;
}

const Candidate& candidate(const Ranking& ranking, std::string_view strategy) {
  return *std::ranges::find_if(ranking.candidates, [&](const Candidate& c) { return c.choice.strategy == strategy; });
}

double ms(const Candidate& candidate) { return in_milliseconds(candidate.predicted.value); }

// Worked values of Tables I and II: eq 6, and eq 5 with the explicit-mapped G at 42 chunks, by 60-digit decimals.
TEST(ClosedForms, rank_the_published_winner_of_the_equation_of_state) {
  const Profile titan = find_profile("gtx-titan-2014");
  const Ranking ranking = rank(state(milliseconds(5)), titan, {.chunks = {1, 42}});
  EXPECT_EQ(ranking.best().choice.strategy, "implicit");
  EXPECT_NEAR(ms(ranking.best()), 58.63341592980224, 1e-9);
  EXPECT_EQ(ranking.best().predicted_by, PredictedBy::closed_form);
  EXPECT_NE(ranking.best().why_not_simulated.find("kernels that access host memory"), std::string::npos);
  EXPECT_NEAR(ms(candidate(rank(state(milliseconds(5)), titan, {.strategies = {"hybrid"}, .chunks = {42}}), "hybrid")),
              85.57307750410362, 1e-9);
  EXPECT_EQ(candidate(ranking, "streams").predicted_by, PredictedBy::simulation);
  EXPECT_NEAR(ms(candidate(ranking, "explicit")), 91.55396048251647, 0.01);
}

// Section VII of the paper: eq 6 is wrong by at most 3.85 %. The simulator's own 5 µs are added in quadrature.
TEST(ClosedForms, have_the_published_error_as_their_interval) {
  const Candidate implicit = predict(state(milliseconds(5)), find_profile("gtx-titan-2014"), {.strategy = "implicit"});
  EXPECT_NEAR(in_milliseconds(implicit.predicted.high - implicit.predicted.value), 0.0385 * 58.6334, 1e-4);
  EXPECT_TRUE(implicit.timeline.spans.empty());
  EXPECT_NEAR(implicit.distance.total.count(),
              implicit.distance.latency.count() + implicit.distance.fill_and_drain.count(), 1e-12);
}

// The order of Fig. 9: hybrid, streams, explicit, implicit. By hand from Tables I and II in ms, for a kernel of 8 ms,
// with 704,643,072 bytes in each direction:
// explicit  0.018443 + 58.6150 + 8 + 55.8411
// streams   0.018443 + 58.6150 + 41 x 0.002503 + 55.8411 + 41 x 0.002674 (eq 4)
// implicit  0.018443 + 6 x 352,321,536 x 8.318392e-8: six doubles are read for each point (eq 6)
// hybrid    0.018443 + (84.0911 + 8) / 42 + 104.3151 + 41 x 0.002674 (eq 5, Table II)
TEST(ClosedForms, rank_the_buoyancy_differences_in_the_published_order) {
  const Ranking ranking = rank(buoydiff(milliseconds(8)), find_profile("gtx-titan-2014"), {.chunks = {1, 42}});
  EXPECT_EQ(ranking.best().choice.strategy, "hybrid");
  EXPECT_NEAR(ms(candidate(ranking, "explicit")), 122.4745, 0.001);
  EXPECT_NEAR(ms(candidate(ranking, "streams")), 114.6868, 0.001);
  EXPECT_NEAR(ms(candidate(ranking, "implicit")), 175.8634, 0.001);
  EXPECT_NEAR(ms(candidate(ranking, "hybrid")), 106.6358, 0.001);
  for (const Candidate& c : ranking.candidates) EXPECT_EQ(c.predicted_by, PredictedBy::closed_form);
}

TEST(ClosedForms, are_not_below_the_bound) {
  for (const Job& job : {state(milliseconds(5)), state(milliseconds(200)), buoydiff(milliseconds(8))}) {
    const Ranking ranking = rank(job, find_profile("gtx-titan-2014"));
    for (const Candidate& c : ranking.candidates) EXPECT_GE(c.predicted.value, ranking.bound.time) << c.choice.strategy;
  }
}

TEST(ClosedForms, rank_nothing_where_choices_must_be_simulated) {
  const Ranking ranking =
      rank(state(milliseconds(5)), find_profile("gtx-titan-2014"), {.fewer_calls = false, .closed_forms = false});
  for (const Candidate& c : ranking.candidates) EXPECT_EQ(c.predicted_by, PredictedBy::simulation);
  EXPECT_TRUE(std::ranges::any_of(ranking.refused, [](const Refused& r) { return r.strategy == "implicit"; }));
}

TEST(ClosedForms, rank_nothing_that_the_simulator_knows) {
  for (const Candidate& c : rank(state(milliseconds(5)), planted_profile()).candidates)
    EXPECT_EQ(c.predicted_by, PredictedBy::simulation) << c.choice.strategy;
}

TEST(ClosedForms, rank_neither_graphs_nor_batches) {
  const Profile titan = find_profile("gtx-titan-2014");
  for (const Candidate& c : rank(buoydiff(milliseconds(8)), titan).candidates)
    EXPECT_FALSE(c.choice.graph || c.choice.batched) << to_string(c.choice);
  EXPECT_THROW(predict(buoydiff(milliseconds(8)), titan, {.strategy = "implicit", .graph = true}), Unsupported);
}

TEST(ClosedForms, leave_the_simulation_of_a_comparison_without_a_time) {
  const Profile titan = find_profile("gtx-titan-2014");
  const auto comparison = compare_models(state(milliseconds(5)), titan, {.strategy = "implicit"}, limits_of(titan));
  EXPECT_FALSE(comparison.models.front().time);
  EXPECT_NE(comparison.models.front().why_not.find("kernels that access host memory"), std::string::npos);
  EXPECT_TRUE(comparison.elasticities.empty());
}

}  // namespace
}  // namespace shiplap
