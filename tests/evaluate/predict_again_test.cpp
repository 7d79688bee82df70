#include "shiplap/evaluate/predict_again.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "shiplap/core/record.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/evaluate/errors.hpp"
#include "shiplap/evaluate/evaluate.hpp"
#include "shiplap/workload/workload.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

Evaluation recorded_on(const Profile& profile) {
  const auto device = planted_gpu();
  const Node node{.device = device, .profile = std::make_shared<const Profile>(profile), .limits = limits_of(profile)};
  const EvaluateOptions options{
      .grid = {.strategies = {}, .chunks = {1, 3}, .max_grids = {8}}, .rounds = 2, .duel_rounds = 2};
  Evaluation evaluation = begin_evaluation(node);
  Workload workload = find_workload("saxpy:n=64Ki", {});
  workload.job.cost = derived_cost(workload.job, planted_profile());
  evaluation.workloads.push_back(evaluate(node, workload, options));
  evaluation.transfers = evaluate_transfers(*device, profile, {1_MiB}, {1, 4}, options);
  return evaluation;
}

Profile slow_link() {
  Profile profile = planted_profile();
  for (DirectionModel* direction : {&profile.links.front().h2d, &profile.links.front().d2h})
    for (auto* rate : {&direction->per_byte.value, &direction->duplex->per_byte.value}) rate->seconds *= 2;
  return profile;
}

/// Samples that were written, for those read of them if these are the same to 10 ns.
void take_rounded(std::vector<double>& read, const std::vector<double>& written) {
  EXPECT_THAT(read, ::testing::Pointwise(::testing::DoubleNear(5.001e-6), written));
  read = written;
}

TEST(EvaluationFile, is_read_as_it_was_written_but_for_what_it_rounds) {
  const Evaluation written = recorded_on(planted_profile());
  ASSERT_TRUE(written.workloads.front().duel);
  ASSERT_FALSE(written.workloads.front().groups.empty());
  Evaluation read = Form<Evaluation>::read(JsonReader(to_json(written), "e.json"));
  // Samples are kept to 10 ns; all else is as it was.
  const EvaluatedWorkload& of = written.workloads.front();
  EvaluatedWorkload& is = read.workloads.front();
  ASSERT_EQ(is.points.size(), of.points.size());
  for (std::size_t i = 0; i < of.points.size(); ++i) take_rounded(is.points[i].samples_ms, of.points[i].samples_ms);
  ASSERT_EQ(is.groups.size(), of.groups.size());
  for (std::size_t i = 0; i < of.groups.size(); ++i) {
    take_rounded(is.groups[i].automatic_ms, of.groups[i].automatic_ms);
    take_rounded(is.groups[i].ideal_overlap_ms, of.groups[i].ideal_overlap_ms);
  }
  ASSERT_TRUE(is.duel);
  take_rounded(is.duel->automatic_ms, of.duel->automatic_ms);
  take_rounded(is.duel->winner_ms, of.duel->winner_ms);
  take_rounded(is.duel->ideal_overlap_ms, of.duel->ideal_overlap_ms);
  ASSERT_EQ(read.transfers.size(), written.transfers.size());
  for (std::size_t i = 0; i < written.transfers.size(); ++i)
    take_rounded(read.transfers[i].samples_ms, written.transfers[i].samples_ms);
  const auto without_statistics = [](Json json) {
    json.erase("statistics");
    return json.dump(1);
  };
  EXPECT_EQ(without_statistics(to_json(read)), without_statistics(to_json(written)));
}

TEST(EvaluationFile, has_launches_with_few_blocks_of_one_size_or_two) {
  const auto interval = [](double ms) -> Json { return {{"value", ms}, {"low", ms}, {"high", ms}, {"unit", "ms"}}; };
  const Json few{{"items", 1}, {"blocks", 16}, {"time", interval(1)}};
  const Json more{{"items", 4}, {"blocks", 16}, {"time", interval(3)}};
  Json json = to_json(recorded_on(planted_profile()));
  Json& limited = json["workloads"][0]["kernel_cost"]["limited"];
  const auto read = [&] { return Form<Evaluation>::read(JsonReader(json, "e.json")).workloads.front().cost.limited; };
  limited = Json::array({few});
  ASSERT_EQ(read().size(), 1u);
  EXPECT_EQ(read()[0].blocks, 16u);
  limited = {few, more};
  ASSERT_EQ(read().size(), 2u);
  EXPECT_NEAR(in_milliseconds(read()[1].work.value), 3, 1e-12);
  EXPECT_EQ(
      to_json(Form<Evaluation>::read(JsonReader(json, "e.json")))["workloads"][0]["kernel_cost"]["limited"].size(), 2u);
  limited = {more, few};
  EXPECT_NE(message_of(read).find("kernel_cost.limited[1].items"), std::string::npos);
}

TEST(EvaluationFile, that_is_damaged_is_refused_with_the_place) {
  Json json = to_json(recorded_on(planted_profile()));
  json["workloads"][0]["points"][1]["samples"]["values"][0] = "fast";
  const std::string message = message_of([&] { Form<Evaluation>::read(JsonReader(json, "e.json")); });
  for (const char* word : {"e.json", "workloads[0].points[1].samples.values[0]"})
    EXPECT_NE(message.find(word), std::string::npos) << message;
  json = to_json(recorded_on(planted_profile()));
  Json& cost = json["workloads"][0]["kernel_cost"]["points"];
  cost.push_back(cost.back());
  EXPECT_NE(message_of([&] { Form<Evaluation>::read(JsonReader(json, "e.json")); }).find("kernel_cost.points[1].items"),
            std::string::npos);
  cost.erase(1);
  cost[0]["time"]["low"] = -1;
  EXPECT_NE(message_of([&] { Form<Evaluation>::read(JsonReader(json, "e.json")); }).find("points[0].time.low"),
            std::string::npos);
  json["schema"] = "shiplap/profile";
  EXPECT_THROW(Form<Evaluation>::read(JsonReader(json, "e.json")), Error);
}

TEST(PredictAgain, on_the_same_profile_says_what_was_said_before) {
  const Evaluation before = recorded_on(planted_profile());
  const Evaluation after = predict_again(before, planted_profile(), limits_of(planted_profile()));
  EXPECT_TRUE(after.predicted_again);
  ASSERT_EQ(after.workloads.front().points.size(), before.workloads.front().points.size());
  for (std::size_t i = 0; i < before.workloads.front().points.size(); ++i) {
    const EvaluatedPoint& was = before.workloads.front().points[i];
    const EvaluatedPoint& is = after.workloads.front().points[i];
    EXPECT_EQ(is.choice, was.choice);
    EXPECT_EQ(is.samples_ms, was.samples_ms);
    EXPECT_DOUBLE_EQ(is.predicted.value.count(), was.predicted.value.count()) << to_string(was.choice);
    EXPECT_EQ(is.models.size(), was.models.size() + 1) << "and what was recorded";
  }
  EXPECT_DOUBLE_EQ(after.transfers.back().simulation.count(), before.transfers.back().simulation.count());
}

TEST(PredictAgain, mends_what_was_predicted_on_a_wrong_profile_and_keeps_what_was_said_then) {
  const Evaluation wrong = recorded_on(slow_link());
  const auto error_of = [](const Evaluation& e, std::string_view model) {
    for (const ModelErrors& m : errors_by_model(e.workloads))
      if (m.name == model) return m.all.worst;
    return -1.0;
  };
  ASSERT_GT(error_of(wrong, "simulation"), 0.3) << "copies take twice as long there";
  // Virtual times, of which the file keeps 10 ns.
  const Evaluation again = predict_again(Form<Evaluation>::read(JsonReader(to_json(wrong), "e.json")),
                                         planted_profile(), limits_of(planted_profile()));
  EXPECT_LT(error_of(again, "simulation"), 1e-3);
  EXPECT_DOUBLE_EQ(error_of(again, simulation_as_recorded),
                   error_of(Form<Evaluation>::read(JsonReader(to_json(wrong), "")), "simulation"));
  EXPECT_EQ(again.profile_hash, parameter_hash(planted_profile()));
  const Evaluation twice = predict_again(again, slow_link(), limits_of(planted_profile()));
  EXPECT_DOUBLE_EQ(error_of(twice, simulation_as_recorded), error_of(again, simulation_as_recorded))
      << "the first record";
}

TEST(PredictAgain, refuses_a_profile_without_a_link_instead_of_predicting_nothing) {
  Evaluation evaluation = recorded_on(planted_profile());
  evaluation.transfers.clear();
  Profile without = planted_profile();
  without.links.clear();
  EXPECT_THROW(predict_again(evaluation, without, limits_of(planted_profile())), Unsupported);
}

TEST(PredictAgain, says_of_a_workload_that_it_does_not_know_that_it_predicts_nothing) {
  Evaluation evaluation = recorded_on(planted_profile());
  evaluation.workloads.front().name = "magic:n=1";
  const Evaluation again = predict_again(evaluation, planted_profile(), limits_of(planted_profile()));
  EXPECT_TRUE(again.workloads.front().points.empty());
  EXPECT_NE(again.workloads.front().not_run.find("magic"), std::string::npos) << again.workloads.front().not_run;
}

TEST(HalveSamples, leaves_every_second_of_many_and_the_same_figures) {
  Evaluation evaluation = recorded_on(planted_profile());
  std::vector<double>& samples = evaluation.workloads.at(0).points.at(0).samples_ms;
  samples.clear();
  for (int i = 0; i < 100'001; ++i) samples.push_back(1 + 1e-5 * (i % 1000));
  const double before = median(samples);
  EXPECT_TRUE(halve_samples(evaluation));
  EXPECT_EQ(samples.size(), 50'001u);
  EXPECT_NEAR(median(samples), before, 1e-4);
  while (halve_samples(evaluation)) continue;
  EXPECT_GE(samples.size(), 6u);
  EXPECT_LE(samples.size(), 11u);
}

}  // namespace
}  // namespace shiplap
