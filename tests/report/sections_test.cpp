#include "shiplap/report/sections.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "shiplap/document/text.hpp"

namespace shiplap::document {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// What a terminal shows, without line breaks.
template <class... Arguments>
std::string shown(const Section& section, Arguments... arguments) {
  return text(section, {.width = 1000}, arguments...);
}

CheckedFigure copies_with(Verdict verdict, double fraction, unsigned attempts = 1) {
  CheckedFigure figure;
  figure.what = "copies to the GPU";
  figure.measured = "27.80 GB/s";
  figure.limit = "63.02 GB/s";
  figure.fraction = fraction;
  figure.expected = 0.72;
  figure.verdict = verdict;
  figure.attempts = attempts;
  return figure;
}

NodeResult result_with(CheckedFigure figure) {
  return {.node = "n7",
          .gpu = "cuda:0",
          .verdict = figure.verdict,
          .busy = {},
          .figures = {figure},
          .attempts = figure.attempts,
          .origin = Origin::measured};
}

TEST(CheckSection, says_who_used_the_node_and_that_nothing_was_judged) {
  NodeResult checked = result_with(copies_with(Verdict::unknown, 0, 0));
  checked.busy = {"process 4242, python3 holds memory of the GPU"};
  EXPECT_THAT(shown(check_section(checked)),
              HasSubstr("The node is busy, so it was not measured: process 4242, python3 holds"));
  NodeResult measured = result_with(copies_with(Verdict::busy, 0.4));
  measured.busy = checked.busy;
  EXPECT_THAT(shown(check_section(measured)),
              AllOf(HasSubstr("The node is busy, so bad figures are not judged: process 4242"), HasSubstr("40.0 %")));
}

TEST(RunSection, explains_a_row_of_its_table_where_the_row_is) {
  RunView view;
  view.run.observed = Interval<Seconds>::exact(Seconds{2e-3});
  EXPECT_THAT(shown(run_section(view)), AllOf(Not(HasSubstr("Ideal overlap:")), Not(HasSubstr("Bound:"))));
  view.run.bound = Seconds{1e-3};
  EXPECT_THAT(shown(run_section(view)), AllOf(Not(HasSubstr("Ideal overlap:")), HasSubstr("Bound: no strategy")));
  view.run.ideal_overlap = Interval<Seconds>::exact(Seconds{1e-3});
  EXPECT_THAT(shown(run_section(view)), AllOf(HasSubstr("Ideal overlap:"), HasSubstr("Bound: no strategy")));
}

TEST(CheckSection, says_which_figures_were_measured_again_and_how_often) {
  EXPECT_THAT(shown(check_section(result_with(copies_with(Verdict::bad, 0.4, 3)))),
              AllOf(HasSubstr("Measured in 3 attempts"), HasSubstr("copies to the GPU (bad)")));
  EXPECT_THAT(shown(check_section(result_with(copies_with(Verdict::good, 0.9)))), Not(HasSubstr("attempts")));
}

TEST(CheckSection, gives_the_causes_of_a_bad_figure_and_begins_with_the_verdict) {
  CheckedFigure bad = copies_with(Verdict::bad, 0.4);
  bad.causes = "a link that is trained too narrow";
  const std::string text = shown(check_section(result_with(bad)));
  EXPECT_THAT(text, AllOf(HasSubstr("BAD n7 cuda:0: 0 of 1 figures good"),
                          HasSubstr("copies to the GPU: a link that is trained too narrow.")));
  EXPECT_LT(text.find("BAD"), text.find("27.80 GB/s"));
}

TEST(CheckSection, of_a_simulated_gpu_or_of_a_profile_does_not_judge_this_host) {
  NodeResult simulated = result_with(copies_with(Verdict::good, 0.9));
  simulated.gpu = "virtual:h200";
  simulated.kind = "h200";
  const Section section = check_section(simulated);
  EXPECT_EQ(section.title, "Check of virtual:h200 (simulated)");
  EXPECT_THAT(section.headlines.front().sentence,
              AllOf(HasSubstr("GOOD virtual:h200 (simulated): 1 of 1"), Not(HasSubstr("n7"))));
  EXPECT_THAT(shown(section), HasSubstr("this is about profile h200, which it simulates, and not about n7"));
  NodeResult of_profile = result_with(copies_with(Verdict::good, 0.9));
  of_profile.node = of_profile.gpu = "h200";
  EXPECT_EQ(check_section(of_profile).title, "Check of profile h200");
  EXPECT_THAT(check_section(of_profile).headlines.front().sentence, HasSubstr("GOOD profile h200: 1 of 1"));
}

TEST(CheckSection, of_many_bad_figures_shows_four_large_numbers_at_most) {
  NodeResult bad = result_with(copies_with(Verdict::bad, 0.4));
  bad.figures.resize(5, bad.figures.front());
  const Headline headline = check_section(bad).headlines.front();
  EXPECT_EQ(headline.judgement, Judgement::bad);
  ASSERT_EQ(headline.numbers.size(), 4u);
  EXPECT_EQ(headline.numbers[0].value, "0 of 5");
  EXPECT_EQ(headline.numbers[1].value, "27.80 GB/s");
  EXPECT_EQ(headline.numbers[2].value, "40.0 %");
}

/// A map of one size of a job and several kernel times, whose two fastest strategies have these predictions.
StrategyMap map_of(const std::vector<std::pair<MapChoice, MapChoice>>& cells) {
  StrategyMap map{.profile = "p", .profile_origin = Origin::measured, .profile_hash = {}, .question = {}, .cells = {}};
  map.question.sizes = {Bytes{1024}};
  for (const auto& [first, second] : cells) {
    map.question.kernels.push_back(milliseconds(1));
    map.cells.push_back({.size = Bytes{1024}, .best = {first, second}});
  }
  return map;
}
MapChoice choice_of(const char* strategy, double ms, double low, double high) {
  return {.choice = {.strategy = strategy}, .predicted = {milliseconds(ms), milliseconds(low), milliseconds(high)}};
}

TEST(MapSection, says_in_how_many_cells_predictions_leave_open_which_is_faster_and_why) {
  const auto streams = choice_of("streams", 10, 9.9, 10.1);
  const std::string text = shown(map_section(map_of({{streams, choice_of("implicit", 10.5, 8, 13.65)},
                                                     {streams, choice_of("explicit", 10.1, 10, 10.2)},
                                                     {streams, choice_of("explicit", 20, 19, 21)}}),
                                             {}));
  EXPECT_THAT(
      text, AllOf(HasSubstr("In 2 of 3 cells the 90 % prediction intervals of the two fastest overlap"),
                  HasSubstr("In 1 of them one of the two is zero-copy"), HasSubstr("up to 30 % above the prediction")));
  EXPECT_THAT(shown(map_section(map_of({{streams, choice_of("explicit", 20, 19, 21)}}), {})),
              Not(HasSubstr("overlap")));
}

TEST(MapSection, names_the_origin_of_a_profile_that_was_not_measured) {
  StrategyMap map = map_of({{choice_of("streams", 10, 9, 11), choice_of("explicit", 20, 19, 21)}});
  EXPECT_THAT(map_section(map, {}).title, HasSubstr("(profile p)"));
  map.profile_origin = Origin::published;
  EXPECT_THAT(map_section(map, {}).title, HasSubstr("(profile p, published)"));
}

Comparison one_slower_of_two() {
  const auto figure = [](const char* primitive, double ms) {
    shiplap::Figure made;
    made.primitive = primitive;
    made.time = Interval<Seconds>::exact(milliseconds(ms));
    return made;
  };
  Comparison comparison;
  comparison.figures = {{.baseline = figure("copy.a", 1),
                         .now = figure("copy.a", 1),
                         .slower = Interval<double>::exact(1),
                         .change = Change::same},
                        {.baseline = figure("copy.b", 1),
                         .now = figure("copy.b", 2),
                         .slower = Interval<double>::exact(2),
                         .change = Change::degraded}};
  comparison.conditions = {{"gpu.link", "5 x16", "5 x8"}};
  return comparison;
}

TEST(ComparisonSection, lists_what_changed_and_all_figures_on_request) {
  const Section section = comparison_section(one_slower_of_two());
  EXPECT_THAT(shown(section), AllOf(HasSubstr("DEGRADED: 1 of 2 figures slower, 0 faster"), HasSubstr("copy.b"),
                                    HasSubstr("+100 %"), HasSubstr("5 x8"), Not(HasSubstr("copy.a"))));
  EXPECT_THAT(shown(section, Detail::all), HasSubstr("copy.a"));
}

TEST(ComparisonSection, says_which_side_was_simulated_and_how_many_figures_only_one_has) {
  Comparison comparison = one_slower_of_two();
  comparison.now_simulated = true;
  for (int i = 0; i < 8; ++i) comparison.only_now.push_back("row " + std::to_string(i));
  EXPECT_THAT(shown(comparison_section(comparison)),
              AllOf(HasSubstr("The profile to judge was measured on a simulated device"),
                    HasSubstr("8 only now: row 0; "), HasSubstr("row 5; and 2 more"), Not(HasSubstr("row 6"))));
}

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

TEST(EvaluationSection, names_the_worst_point_with_the_busiest_engine_skips_with_reasons_and_the_drift) {
  for (const std::string& shown : {text(evaluation_section(two_groups()), {.width = 400}, Detail::all),
                                   markdown(evaluation_section(two_groups()))})
    for (const char* word :
         {"a GPU (cuda:0)", "−20.0 %", "work, pageable memory", "streams, 8 chunks", "copy D2H, 87.5 %",
          "its arrays are pageable", "moved by at most 4.0 %", "Every result was verified."})
      EXPECT_NE(shown.find(word), std::string::npos) << word << " in\n" << shown;
}

TEST(EvaluationSection, says_first_that_results_are_wrong) {
  Evaluation evaluation = two_groups();
  evaluation.workloads[0].points[0].verified = false;
  evaluation.workloads[0].points[0].difference = "y[3] is 1 instead of 2";
  const std::string shown = text(evaluation_section(evaluation), {.width = 400}, Detail::all);
  EXPECT_LT(shown.find("1 WRONG"), shown.find("Every model"));
  EXPECT_NE(shown.find("y[3] is 1 instead of 2"), std::string::npos);
}

}  // namespace
}  // namespace shiplap::document
