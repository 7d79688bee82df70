// The published GH200 times: what is known of them by other routes, and how well the models predict them. A selection
// of 126 points is part of the tests; SHIPLAP_ETH2025 names the folder of the authors' whole files.
#include "experiments/published_sweep/evaluation.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/published_sweep/report.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"

namespace shiplap::experiments::published_sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

PublishedData selection() {
  return load_published(SHIPLAP_SOURCE_DIR "/tests/experiments/published_sweep/data/eth2025_269302_selection.csv");
}

TEST(Eth2025, eq_5_explains_126_points_within_5_percent) {
  const PublishedData data = selection();
  ASSERT_EQ(data.points.size(), 126u);
  const Eq5Fit fit = fit_eq5(data.points);
  double squares = 0, worst = 0;
  std::vector<double> sizes;
  for (const PublishedPoint& p : data.points) {
    sizes.push_back(std::abs(predict(fit, p) / p.time - 1));
    squares += sizes.back() * sizes.back();
    worst = std::max(worst, sizes.back());
  }
  // Known from a fit of the same form to the same points by another program.
  EXPECT_NEAR(std::sqrt(squares / 126), 0.010, 0.0005);
  EXPECT_NEAR(median(sizes), 0.006, 0.0005);
  EXPECT_LE(worst, 0.048);
  EXPECT_NEAR(std::max(fit.h2d.per_byte.seconds, fit.d2h.per_byte.seconds), 1.24e-11, 0.02e-11);
  EXPECT_NEAR(std::min(fit.h2d.per_byte.seconds, fit.d2h.per_byte.seconds), 1.00e-11, 0.02e-11);
  EXPECT_NEAR(in_milliseconds(fit.h2d.latency_overhead + fit.d2h.latency_overhead), 0.10, 0.02);
  EXPECT_NEAR(fit.per_element_and_call.count(), 1.83e-12, 0.01e-12);
}

TEST(Eth2025, streams_gain_most_where_the_kernel_takes_as_long_as_the_longer_copy) {
  const Eq5Fit fit = fit_eq5(selection().points);
  const double longer = std::max(fit.h2d.per_byte.seconds, fit.d2h.per_byte.seconds);
  const double calls = 4 * longer / fit.per_element_and_call.count();
  EXPECT_NEAR(calls, 27, 1);
  // The published sweep has powers of two.
  double best = 0;
  std::uint32_t at = 0;
  for (const PublishedPoint& one : selection().points)
    for (const PublishedPoint& many : selection().points)
      if (one.size == 1u << 29 && many.size == one.size && one.calls == many.calls && one.streams == 1 &&
          one.time / many.time > best) {
        best = one.time / many.time;
        at = one.calls;
      }
  EXPECT_EQ(at, 32u);
}

TEST(Eth2025, the_simulation_predicts_the_largest_size_from_the_smaller_ones) {
  const PublishedEvaluation evaluation = evaluate_published(selection());
  const PublishedModel& simulation = evaluation.models.front();
  EXPECT_EQ(simulation.name, "simulation");
  EXPECT_EQ(simulation.training.count, 84u);
  ASSERT_TRUE(simulation.held_out);
  EXPECT_EQ(simulation.held_out->count, 42u);
  EXPECT_LE(simulation.held_out->median, 0.02);
  EXPECT_LE(simulation.held_out->percentile_95, 0.05);
  EXPECT_LE(std::abs(simulation.held_out->worst), 0.08);
}

TEST(EvaluatePublished, held_out_points_do_not_change_the_fit) {
  PublishedData data = selection();
  const auto hash = [&] { return parameter_hash(evaluate_published(data).simulation.profile); };
  const std::string before = hash();
  for (PublishedPoint& p : data.points)
    if (p.size > std::uint64_t{1} << 27) p.time *= 3;
  EXPECT_EQ(hash(), before);
}

TEST(EvaluatePublished, errors_are_shares_of_the_observed_time_and_groups_add_up) {
  const PublishedEvaluation evaluation = evaluate_published(selection());
  for (const PublishedModel& model : evaluation.models) {
    ASSERT_TRUE(model.held_out);
    for (const auto* groups : {&model.by_size, &model.by_streams, &model.by_calls, &model.by_chunk}) {
      std::size_t count = 0;
      double worst = 0;
      for (const PublishedGroup& g : *groups) {
        count += g.errors.count;
        worst = std::max(worst, std::abs(g.errors.worst));
      }
      EXPECT_EQ(count, model.held_out->count);
      EXPECT_EQ(worst, std::abs(model.held_out->worst));
    }
  }
  const PublishedErrors& simulation = *evaluation.models.front().held_out;
  EXPECT_NEAR(predict(evaluation.simulation, simulation.worst_at) / simulation.worst_at.time - 1, simulation.worst,
              1e-12);
}

TEST(EvaluatePublished, says_so_when_there_is_too_little_to_fit_or_nothing_to_predict) {
  PublishedData data = selection();
  EXPECT_THAT([&] { evaluate_published(data, {.largest_size = 1024}); },
              ThrowsMessage<Error>(HasSubstr("0 point(s) of at most 1024 elements")));
  const PublishedEvaluation all = evaluate_published(data, {.largest_size = std::uint64_t{1} << 29});
  EXPECT_FALSE(all.models.front().held_out);
  EXPECT_TRUE(to_json(all)["models"][0]["held_out"].is_null());
}

TEST(PublishedReport, shows_every_model_and_what_was_fitted) {
  const PublishedEvaluation evaluation = evaluate_published(selection());
  const std::string text = published_report(evaluation);
  for (const char* part :
       {"simulation", "eq 5", "Gómez-Luna", "held out", "which is which the times do not say", "calls"})
    EXPECT_THAT(text, HasSubstr(part));
  const Json json = to_json(evaluation);
  EXPECT_EQ(json["schema"], "shiplap/published-evaluation");
  EXPECT_EQ(json["models"].size(), 3u);
  EXPECT_EQ(json["models"][0]["held_out"]["points"], 42);
}

/// The authors' file, or a reason to skip.
class WholeFile : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("SHIPLAP_ETH2025");
    if (folder == nullptr) GTEST_SKIP() << "SHIPLAP_ETH2025 does not name the folder of the authors' files";
    path_ = std::filesystem::path(folder) / (std::string("perf_test_cuda_") + GetParam() + ".csv");
  }
  std::filesystem::path path_;
};

TEST_P(WholeFile, is_predicted_within_the_stated_errors_by_the_profile_that_is_built_in) {
  const PublishedEvaluation evaluation = evaluate_published(load_published(path_));
  const PublishedModel& simulation = evaluation.models.front();
  ASSERT_TRUE(simulation.held_out);
  EXPECT_LE(simulation.held_out->median, 0.025);
  EXPECT_LE(simulation.held_out->percentile_95, 0.11);
  EXPECT_LT(simulation.held_out->median, evaluation.models[1].held_out->median);
  EXPECT_LT(simulation.held_out->percentile_95, evaluation.models[1].held_out->percentile_95);

  const Profile built_in = find_profile(std::string("gh200-2025-") + GetParam());
  const LinkModel& link = evaluation.simulation.profile.link(0);
  EXPECT_NEAR(built_in.link(0).h2d.per_byte.value.seconds / link.h2d.per_byte.value.seconds, 1, 0.01);
  EXPECT_NEAR(built_in.link(0).d2h.per_byte.value.seconds / link.d2h.per_byte.value.seconds, 1, 0.01);
  EXPECT_NEAR(built_in.submission.copy->value / evaluation.simulation.profile.submission.copy->value, 1, 0.01);
  EXPECT_EQ(built_in.missing.size(), evaluation.simulation.profile.missing.size());
}

INSTANTIATE_TEST_SUITE_P(Eth2025, WholeFile, ::testing::Values("269302", "258389"));

}  // namespace
}  // namespace shiplap::experiments::published_sweep
