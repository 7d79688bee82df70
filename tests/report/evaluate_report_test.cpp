#include "shiplap/report/evaluate_report.hpp"

#include <gtest/gtest.h>

namespace shiplap {
namespace {

Evaluation two_groups() {
  const auto point = [](std::uint32_t chunks, double observed_ms, double predicted_ms) {
    return EvaluatedPoint{.choice = {.strategy = "streams", .chunks = chunks},
                          .predicted = Interval<Seconds>::exact(milliseconds(predicted_ms)),
                          .models = {{"simulation", milliseconds(predicted_ms)}},
                          .busiest = Engine::copy_d2h,
                          .busy = 0.875,
                          .samples_ms = {observed_ms},
                          .verified = true,
                          .difference = {}};
  };
  EvaluatedWorkload workload{
      .name = "work", .memory = MemoryKind::pageable, .points = {point(1, 10, 10.5), point(8, 10, 8)}};
  workload.skipped = {{{.strategy = "explicit"}, "its arrays are pageable"}};
  workload.groups = {{.choices = 1, .automatic_ms = {10}, .ideal_overlap_ms = {}},
                     {.choices = 1, .automatic_ms = {10.4}, .ideal_overlap_ms = {}}};
  workload.duel = Duel{.automatic = {.chunks = 1},
                       .winner = {.chunks = 8},
                       .automatic_ms = {10},
                       .winner_ms = {10},
                       .ideal_overlap_ms = {}};
  return {.device = "cuda:0",
          .device_name = "a GPU",
          .conditions = {},
          .profile = "p",
          .profile_hash = "0123",
          .workloads = {workload},
          .transfers = {}};
}

TEST(EvaluateReport, names_the_worst_point_with_the_busiest_engine_skips_with_reasons_and_the_drift) {
  for (const std::string& text : {evaluate_report(two_groups(), {.width = 400}), evaluate_markdown(two_groups())})
    for (const char* word :
         {"a GPU (cuda:0)", "−20.0 %", "work, pageable memory", "streams, 8 chunks", "copy D2H, 87.5 %",
          "its arrays are pageable", "moved by at most 4.0 %", "Every result was verified."})
      EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
}

TEST(EvaluateReport, says_first_that_results_are_wrong) {
  Evaluation evaluation = two_groups();
  evaluation.workloads[0].points[0].verified = false;
  evaluation.workloads[0].points[0].difference = "y[3] is 1 instead of 2";
  const std::string text = evaluate_report(evaluation, {.width = 400});
  EXPECT_LT(text.find("1 WRONG"), text.find("Every model"));
  EXPECT_NE(text.find("y[3] is 1 instead of 2"), std::string::npos);
}

}  // namespace
}  // namespace shiplap
