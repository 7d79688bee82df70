#include "shiplap/evaluate/errors.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace shiplap {
namespace {

/// A verified point whose samples all are `observed_ms`, predicted by the simulation and, if given, by another model.
EvaluatedPoint point(const Choice& choice, double observed_ms, double simulation_ms, double other_ms = 0) {
  EvaluatedPoint p{.choice = choice,
                   .predicted = Interval<Seconds>{milliseconds(simulation_ms), milliseconds(simulation_ms * 0.9),
                                                  milliseconds(simulation_ms * 1.1)},
                   .models = {{"simulation", milliseconds(simulation_ms)}},
                   .samples_ms = {observed_ms, observed_ms, observed_ms},
                   .verified = true,
                   .difference = {}};
  if (other_ms > 0) p.models.push_back({"other", milliseconds(other_ms)});
  return p;
}

Choice streams(std::uint32_t chunks) { return {.strategy = "streams", .chunks = chunks}; }

EvaluatedWorkload workload(std::vector<EvaluatedPoint> points) { return {.name = "work", .points = std::move(points)}; }

TEST(Summary, has_the_figures_computed_by_hand) {
  // Absolute: 1 2 3 4 10 %. The 95th percentile lies at index 3.8 of 0 … 4: 4 + 0.8 · 6 = 8.8 %.
  const ErrorSummary s = summary(std::vector<double>{0.01, -0.02, 0.03, -0.10, 0.04});
  EXPECT_EQ(s.points, 5u);
  EXPECT_NEAR(s.median, 0.03, 1e-12);
  EXPECT_NEAR(s.p95, 0.088, 1e-12);
  EXPECT_NEAR(s.worst, 0.10, 1e-12);
  EXPECT_NEAR(s.median_signed, 0.01, 1e-12);
  EXPECT_NEAR(s.over, 0.04, 1e-12);
  EXPECT_NEAR(s.under, -0.10, 1e-12);
  EXPECT_EQ(summary({}).points, 0u);
}

TEST(ErrorsByModel, count_only_what_a_model_predicted_and_what_was_right) {
  EvaluatedPoint wrong = point(streams(8), 1, 100);
  wrong.verified = false;
  const auto models =
      errors_by_model(std::vector{workload({point(streams(1), 10, 11, 12), point(streams(2), 10, 9), wrong})});
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].name, "simulation");
  EXPECT_EQ(models[0].all.points, 2u);
  EXPECT_NEAR(models[0].all.median, 0.1, 1e-12);
  EXPECT_NEAR(models[0].all.median_signed, 0, 1e-12);
  EXPECT_EQ(models[1].name, "other");
  EXPECT_EQ(models[1].all.points, 1u);
  EXPECT_NEAR(models[1].all.worst, 0.2, 1e-12);
}

TEST(ErrorsByModel, list_unsteady_points_apart_and_take_the_worst_of_the_steady_ones) {
  EvaluatedPoint unsteady = point(streams(64), 10, 20);
  unsteady.samples_ms = {8, 10, 12};
  EvaluatedPoint off = point(streams(4), 10, 10.5);
  off.busiest = Engine::copy_h2d;
  const auto models = errors_by_model(std::vector{workload({point(streams(1), 10, 10.1), off, unsteady})});
  const ModelErrors& simulation = models.front();
  EXPECT_EQ(simulation.all.points, 3u);
  EXPECT_EQ(simulation.steady.points, 2u);
  EXPECT_NEAR(simulation.steady.worst, 0.05, 1e-12);
  EXPECT_EQ(simulation.unsteady.points, 1u);
  EXPECT_NEAR(simulation.unsteady.worst, 1, 1e-12);
  EXPECT_NEAR(simulation.unsteady_fraction(), 1.0 / 3, 1e-12);
  ASSERT_TRUE(simulation.worst);
  EXPECT_EQ(simulation.worst->choice.chunks, 4u);
  EXPECT_EQ(simulation.worst->busiest, Engine::copy_h2d);
}

TEST(ErrorsByModel, tell_how_many_medians_the_simulations_intervals_cover) {
  // Ranges are ± 10 % of the prediction: 10.5 and 9.5 cover 10, 12 and 8 do not.
  const auto models = errors_by_model(std::vector{workload(
      {point(streams(1), 10, 10.5), point(streams(2), 10, 9.5), point(streams(4), 10, 12), point(streams(8), 10, 8)})});
  ASSERT_TRUE(models.front().coverage);
  EXPECT_NEAR(models.front().coverage->covered, 0.5, 1e-12);
  EXPECT_NEAR(models.front().coverage->median_width, 0.2, 1e-12);
}

TEST(ErrorsByStrategy, keep_layouts_of_chunks_apart) {
  Choice own = streams(4);
  own.layout = Layout::per_chunk;
  const auto groups =
      errors_by_strategy(std::vector{workload({point({.strategy = "explicit"}, 10, 11), point(streams(4), 10, 10),
                                               point(streams(8), 10, 10), point(own, 10, 8)})});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].name, "explicit");
  EXPECT_EQ(groups[1].name, "streams, three streams");
  EXPECT_EQ(groups[1].all.points, 2u);
  EXPECT_NEAR(groups[2].all.median_signed, -0.2, 1e-12);
}

TEST(Regrets, are_what_the_predicted_best_takes_more_than_the_observed_best) {
  // Chunks: the simulation puts 4 first, which took 12; 2 took 10. Strategies: it puts explicit (8) before streams (9),
  // and explicit took 15 against 10.
  const auto r = regrets(std::vector{workload({point({.strategy = "explicit"}, 15, 8), point(streams(1), 14, 13),
                                               point(streams(2), 10, 11), point(streams(4), 12, 9)})});
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(r[0].strategy.cases, 1u);
  EXPECT_NEAR(r[0].strategy.worst, 0.5, 1e-12);
  EXPECT_EQ(r[0].strategy.worst_case, "work: explicit instead of streams");
  EXPECT_EQ(r[0].chunks.cases, 1u);
  EXPECT_NEAR(r[0].chunks.worst, 0.2, 1e-12);
}

TEST(Regrets, of_chunks_equal_a_search_over_all_of_them) {
  // Made-up times with no order in them.
  std::vector<EvaluatedPoint> points;
  for (std::uint32_t c = 1; c <= 50; ++c)
    points.push_back(point(streams(c), 10 + (c * 37 % 50) * 0.1, 10 + (c * 23 % 50) * 0.1));
  double best = 1e9;
  double first = 1e9;
  double of_first = 0;
  for (std::uint32_t c = 1; c <= 50; ++c) {
    const double observed = 10 + (c * 37 % 50) * 0.1;
    const double predicted = 10 + (c * 23 % 50) * 0.1;
    best = std::min(best, observed);
    if (predicted < first) {
      first = predicted;
      of_first = observed;
    }
  }
  const auto r = regrets(std::vector{workload(points)});
  EXPECT_NEAR(r[0].chunks.worst, of_first / best - 1, 1e-12);
}

TEST(Regrets, have_no_case_where_a_model_tells_nothing_apart) {
  const auto r =
      regrets(std::vector{workload({point(streams(1), 14, 5), point(streams(2), 10, 5), point(streams(4), 12, 5)})});
  EXPECT_EQ(r[0].chunks.cases, 0u);
  EXPECT_EQ(r[0].strategy.cases, 0u);
}

TEST(TransferErrors, keep_directions_and_signs_apart) {
  const auto transfer = [](bool to_device, double observed, double simulation, double loggp) {
    return EvaluatedTransfer{.to_device = to_device,
                             .total = 1_MiB,
                             .simulation = milliseconds(simulation),
                             .loggp = milliseconds(loggp),
                             .samples_ms = {observed}};
  };
  const auto errors = transfer_errors(
      std::vector{transfer(true, 10, 10, 10.1), transfer(true, 10, 9.9, 9.8), transfer(false, 10, 10.5, 10)});
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_NEAR(errors[0].simulation.over, 0, 1e-12);
  EXPECT_NEAR(errors[0].simulation.under, -0.01, 1e-12);
  EXPECT_NEAR(errors[0].loggp.over, 0.01, 1e-12);
  EXPECT_NEAR(errors[0].loggp.under, -0.02, 1e-12);
  EXPECT_NEAR(errors[1].simulation.over, 0.05, 1e-12);
}

TEST(Duel, allows_one_per_cent_or_three_microseconds) {
  const auto duel = [](double automatic_ms, double winner_ms) {
    return Duel{.automatic = {},
                .winner = {},
                .automatic_ms = std::vector<double>(9, automatic_ms),
                .winner_ms = std::vector<double>(9, winner_ms),
                .ideal_overlap_ms = {}};
  };
  EXPECT_TRUE(duel(10.09, 10).within_rule());
  EXPECT_FALSE(duel(10.11, 10).within_rule());
  EXPECT_TRUE(duel(0.0529, 0.050).within_rule());
  EXPECT_FALSE(duel(0.0531, 0.050).within_rule());
  EXPECT_NEAR(duel(10.11, 10).over_winner(), 0.011, 1e-12);
}

}  // namespace
}  // namespace shiplap
