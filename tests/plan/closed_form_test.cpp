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

Job of_ocean(const char* workload, Seconds kernel) {
  Job job = find_workload(workload).job;
  job.cost = {.points = {{job.items, Interval<Seconds>::exact(kernel)}}, .origin = "stated"};
  return job;
}
/// The equation of state with one output: 42 levels, 704,643,072 bytes in and 352,321,536 out.
Job state(Seconds kernel) { return of_ocean("pop-state", kernel); }
/// Buoyancy differences: 704,643,072 bytes in each direction.
Job buoydiff(Seconds kernel) { return of_ocean("pop-buoydiff", kernel); }

/// L+o and 2016 B in ms: the table of pressures is copied once, which no equation has.
constexpr double table_of_pressures = 0.00942 + 2016 * 8.318392e-8;

const Candidate& candidate(const Ranking& ranking, std::string_view strategy) {
  return *std::ranges::find_if(ranking.candidates, [&](const Candidate& c) { return c.choice.strategy == strategy; });
}

double ms(const Candidate& candidate) { return in_milliseconds(candidate.predicted.value); }

// Worked values of Tables I and II: eq 6 by 60-digit decimals, and two stages with the explicit-mapped G while both
// directions move: Tdh = 52.1577 and Thd = 52.1577 + (704,643,072 - 437,056,346) x 8.318392e-8 = 74.4166, so that 42
// chunks take 0.018443 + 74.4166 + 41 x 0.002503 + 52.1577 / 42.
TEST(ClosedForms, rank_the_published_winner_of_the_equation_of_state) {
  const Profile titan = find_profile("gtx-titan-2014");
  const Ranking ranking = rank(state(milliseconds(5)), titan, {.chunks = {1, 42}});
  EXPECT_EQ(ranking.best().choice.strategy, "implicit");
  EXPECT_NEAR(ms(ranking.best()), 58.63341592980224 + table_of_pressures, 1e-9);
  EXPECT_EQ(ranking.best().predicted_by, PredictedBy::closed_form);
  EXPECT_NE(ranking.best().why_not_simulated.find("kernels that access host memory"), std::string::npos);
  EXPECT_NEAR(ms(candidate(rank(state(milliseconds(5)), titan, {.strategies = {"hybrid"}, .chunks = {42}}), "hybrid")),
              75.7795 + table_of_pressures, 1e-3);
  EXPECT_EQ(candidate(ranking, "streams").predicted_by, PredictedBy::simulation);
  EXPECT_NEAR(ms(candidate(ranking, "explicit")), 91.55396048251647 + table_of_pressures, 0.01);
}

// Section VII of the paper: eq 6 is wrong by at most 3.85 %. The simulator's own 5 µs are added in quadrature.
TEST(ClosedForms, have_the_published_error_as_their_interval) {
  const Candidate implicit = predict(state(milliseconds(5)), find_profile("gtx-titan-2014"), {.strategy = "implicit"});
  EXPECT_NEAR(in_milliseconds(implicit.predicted.high - implicit.predicted.value), 0.0385 * 58.6430, 1e-4);
  EXPECT_TRUE(implicit.timeline.spans.empty());
  EXPECT_NEAR(implicit.distance.total.count(),
              implicit.distance.latency.count() + implicit.distance.fill_and_drain.count(), 1e-12);
}

// The order of Fig. 9: hybrid, streams, explicit, implicit. By hand from Tables I and II in ms, for a kernel of 8 ms:
// explicit  0.018443 + 58.6150 + 8 + 55.8411
// streams   0.018443 + 58.6150 + 41 x 0.002503 + 55.8411 + 41 x 0.002674 (eq 4)
// implicit  0.018443 + 6 x 352,321,536 x 8.318392e-8: six doubles are read for each point (eq 6)
// hybrid    0.018443 + 84.0911 / 42 + 94.9172 (two stages): both directions move for 84.0911, and the rest of the
// writes
//           takes (704,643,072 - 568,031,178) x 7.924734e-8 more
// Two arrays are copied once, 4 MiB of levels and a small table: L+o + 4 MiB x 8.318392e-8 + g = 0.3608.
TEST(ClosedForms, rank_the_buoyancy_differences_in_the_published_order) {
  const Ranking ranking = rank(buoydiff(milliseconds(8)), find_profile("gtx-titan-2014"), {.chunks = {1, 42}});
  EXPECT_EQ(ranking.best().choice.strategy, "hybrid");
  EXPECT_NEAR(ms(candidate(ranking, "explicit")), 122.4745 + 0.3608, 0.001);
  EXPECT_NEAR(ms(candidate(ranking, "streams")), 114.6868 + 0.3608, 0.001);
  EXPECT_NEAR(ms(candidate(ranking, "implicit")), 175.8634 + 0.3608, 0.001);
  EXPECT_NEAR(ms(candidate(ranking, "hybrid")), 96.9379 + 0.3608, 0.001);
  for (const Candidate& c : ranking.candidates) EXPECT_EQ(c.predicted_by, PredictedBy::closed_form);
}

// The bytes of the buoyancy differences stated by hand: 672 MiB each way, in without the two arrays that are copied
// once.
TEST(ClosedForms, count_every_read_of_inputs_that_are_stated_to_be_read_several_times) {
  const Profile titan = find_profile("gtx-titan-2014");
  Workload stated = stated_workload({.in = 672_MiB, .out = 672_MiB, .kernel = milliseconds(8), .each_byte_once = true});
  const double once = ms(predict(stated.job, titan, {.strategy = "implicit"}));
  read_inputs(stated, 3);
  EXPECT_NEAR(ms(predict(stated.job, titan, {.strategy = "implicit"})), 175.8634, 0.001);
  EXPECT_LT(once, 90);
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
