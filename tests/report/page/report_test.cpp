// Which files make which sections, and what the sentences on top say of planted values.
#include "shiplap/report/page/report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/document/figure_json.hpp"
#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/measure/compare.hpp"
#include "shiplap/measure/node_result.hpp"
#include "shiplap/pipeline/node_check.hpp"
#include "shiplap/pipeline/plan_view.hpp"
#include "shiplap/pipeline/run_view.hpp"
#include "shiplap/plan/mover_table.hpp"
#include "tests/support/measurements.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_blocks.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap::page {
namespace {

using namespace document;  // the figures

using namespace shiplap::literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const PageOptions without_map{.map = std::nullopt};

ReportFile file_of(const Profile& profile, const std::string& name = "profile.json") {
  return {name, to_json(profile).dump()};
}

/// Also tests that every large number stands in the sentence that it belongs to, and that a section has few of them.
Page report_of(std::vector<ReportFile> files, const PageOptions& options = without_map) {
  Page page = report(files, options);
  for (const Section& section : page.sections) {
    std::size_t numbers = 0;
    for (const Headline& headline : section.headlines) {
      EXPECT_TRUE(headline.sentence.starts_with(headline.verdict)) << headline.sentence;
      for (const KeyNumber& number : headline.numbers) EXPECT_THAT(headline.sentence, HasSubstr(number.value));
      numbers += headline.numbers.size();
    }
    EXPECT_LE(numbers, 4u) << section.title;
  }
  return page;
}

/// What `shiplap check --json` prints.
std::string checked(const NodeCheck& check) {
  NodeResult result = result_of(check);
  result.node = "n1";
  result.gpu = "cuda:0";
  return to_json(result).dump();
}

std::vector<std::string> titles_of(const Page& page) {
  std::vector<std::string> titles;
  for (const Section& section : page.sections) titles.push_back(section.title);
  return titles;
}

std::vector<std::string> summary_of(const Page& page) {
  std::vector<std::string> sentences;
  for (const Section& section : page.sections)
    for (const Headline& headline : section.headlines) sentences.push_back(headline.sentence);
  return sentences;
}

template <class Kind>
const Kind* figure_of(const Page& page, const std::string& title) {
  for (const Section& section : page.sections)
    for (const document::Figure& figure : section.figures)
      if (const auto* found = std::get_if<Kind>(&figure); found != nullptr && found->title == title) return found;
  return nullptr;
}

/// A plan of a job with 2 MiB in, 1 MiB out and a kernel of 3 ms.
Json plan_json(const Profile& profile) {
  const auto candidate = [](const std::string& strategy, double ms) {
    return Candidate{.choice = {.strategy = strategy, .chunks = 8},
                     .predicted = {milliseconds(ms), milliseconds(ms * 0.9), milliseconds(ms * 1.1)}};
  };
  const PlanView view{
      .ranking = {.job = "fft",
                  .profile = profile.name,
                  .profile_hash = parameter_hash(profile),
                  .kernel_cost_origin = "stated",
                  .bound = {.time = milliseconds(8), .link = milliseconds(8)},
                  .ideal_overlap = {.time = Interval<Seconds>::exact(milliseconds(9)), .copies = milliseconds(9)},
                  .candidates = {candidate("streams", 10), candidate("explicit", 15)},
                  .refused = {},
                  .assumptions = {},
                  .why = "because"},
      .shape = JobShape{2_MiB, 1_MiB, MemoryKind::pinned, milliseconds(3)},
      .chosen = candidate("streams", 10)};
  return to_json(view);
}

TEST(Report, sections_follow_one_order_whatever_the_order_of_the_files) {
  const Profile profile = planted_profile();
  const ReportFile movers{"movers.json", to_json(mover_table(profile, {})).dump()};
  const ReportFile check_file{"check.json", checked(check_profile(profile))};
  const ReportFile plan{"plan.json", plan_json(profile).dump()};
  EXPECT_THAT(
      titles_of(report_of({movers, plan, check_file, file_of(profile)})),
      ElementsAre(HasSubstr("Node: "), HasSubstr("Check of "), "Plan for fft", HasSubstr("Movers of scattered")));
}

TEST(Report, refuses_what_is_no_file_of_shiplap_and_names_what_is) {
  const auto refusal = [](const std::string& text) { return message_of([&] { report_of({{"x.json", text}}); }); };
  EXPECT_THAT(refusal("{}"), AllOf(HasSubstr("x.json: it has no \"schema\""), HasSubstr("shiplap/profile")));
  EXPECT_THAT(refusal(R"({"schema": "other/thing"})"), HasSubstr("its schema is other/thing"));
  EXPECT_THAT(refusal(R"({"schema": "shiplap/recording"})"), HasSubstr("shiplap advise --json"));
  EXPECT_THAT(refusal(R"({"schema": "shiplap/plan", "version": 99})"), HasSubstr("99"));
  EXPECT_THAT(refusal("not json"), HasSubstr("x.json"));
  EXPECT_THAT(refusal(R"({"schema": "shiplap/plan", "version": 4})"), HasSubstr("job"));
  EXPECT_THAT(refusal(""), HasSubstr("x.json"));
  EXPECT_THROW(report_of({}), UsageError);
}

TEST(Report, says_how_fast_the_node_is_and_which_figures_are_bad) {
  Profile profile = planted_profile();
  profile.origin = Origin::measured;
  profile.conditions["gpu.link"] = "32.0 GT/s PCIe x16";
  profile.conditions["gpu.link_loaded"] = "32.0 GT/s PCIe x16";
  LinkModel& link = profile.links.front();
  link.h2d.per_byte = Interval<PerByte>::exact(per_byte(gigabytes_per_second(55)));
  link.d2h.per_byte = Interval<PerByte>::exact(per_byte(gigabytes_per_second(20)));
  const Page page = report_of({file_of(profile)});
  // 32 GT/s over 16 lanes, coded 128 in 130 bits, are 63.02 GB/s.
  EXPECT_THAT(summary_of(page), Contains(AllOf(HasSubstr("55.00 GB/s (87.3 % of the link's limit) to the GPU"),
                                               HasSubstr("20.00 GB/s (31.7 % of the link's limit) to the host"))));
  EXPECT_THAT(
      summary_of(page),
      Contains(AllOf(HasSubstr("BAD "),
                     HasSubstr("\"the slower direction against the faster\": 20.00 GB/s, 36.4 % of its limit"))));
}

TEST(Report, a_busy_node_is_not_called_healthy_or_sick) {
  NodeCheck busy;
  busy.busy = {"process 4711 uses the GPU"};
  const Page page = report_of({{"check.json", checked(busy)}});
  EXPECT_THAT(summary_of(page), ElementsAre(HasSubstr("n1 was busy, so it was not judged")));
  EXPECT_THAT(page.sections.front().sentences, Contains(HasSubstr("process 4711 uses the GPU")));
}

TEST(Report, draws_the_rate_of_the_fastest_figure_at_each_size) {
  Profile profile = planted_profile();
  profile.measurements = {
      testing::events("copy.pinned.h2d", {{"bytes", 1e6}}, 100),
      testing::events("copy.pinned.h2d", {{"bytes", 4e6}}, 200),
      testing::events("mapped.read", {{"blocks", 1}, {"bytes", 1e6}, {"count", 1}, {"width", 4}}, 100),
      testing::events("mapped.read", {{"blocks", 1}, {"bytes", 1e6}, {"count", 1}, {"width", 16}}, 50),
      testing::events("mapped.read", {{"blocks", 2}, {"bytes", 1e6}, {"count", 1}, {"width", 16}}, 25)};
  const Page page = report_of({file_of(profile)});
  const Plot* rates = figure_of<Plot>(page, "Rate of one copy over its size");
  ASSERT_NE(rates, nullptr);
  ASSERT_EQ(rates->series.size(), 1u) << "nothing else was measured";
  EXPECT_EQ(rates->series[0].points[0].x, 1e6);
  EXPECT_NEAR(rates->series[0].points[0].y, 1e10, 1e4);
  EXPECT_NEAR(rates->series[0].points[1].y, 2e10, 1e4);
  const Plot* zero_copy = figure_of<Plot>(page, "Zero-copy: kernels that access pinned host memory");
  ASSERT_NE(zero_copy, nullptr);
  EXPECT_NEAR(zero_copy->series[0].points[0].y, 2e10, 1e4) << "the wider access counts";
}

TEST(Report, several_nodes_are_shown_beside_their_median_and_the_slowest_is_named) {
  std::vector<ReportFile> files;
  for (const char* name : {"n1", "n2", "n3"}) {
    Profile profile = planted_profile();
    profile.name = name;
    Interval<PerByte>& cost = profile.links.front().d2h.per_byte;
    if (profile.name == "n2") cost = Interval<PerByte>::exact({cost.value.seconds * 4});
    files.push_back(file_of(profile, name));
  }
  const Page page = report_of(files);
  EXPECT_THAT(titles_of(page), Contains("3 nodes side by side"));
  EXPECT_THAT(summary_of(page),
              Contains(AllOf(HasSubstr("n2 (planted) is farthest below the median"), HasSubstr("25.0 % of it"))));
}

TEST(Report, a_comparison_says_what_became_slower_and_by_how_much) {
  Profile before = planted_profile();
  before.measurements = {testing::events("copy.pinned.h2d", {{"bytes", 1e6}}, 100),
                         testing::events("copy.pinned.d2h", {{"bytes", 1e6}}, 100)};
  Profile now = before;
  now.measurements[1] = testing::events("copy.pinned.d2h", {{"bytes", 1e6}}, 150);
  const Page page = report_of({{"c.json", to_json(compare(before, now)).dump()}});
  EXPECT_THAT(summary_of(page), Contains(AllOf(HasSubstr("DEGRADED: 1 of 2 figures slower, 0 faster"),
                                               HasSubstr("copy.pinned.d2h"), HasSubstr("+50.0 %"))));
  const Plot* plot = figure_of<Plot>(page, "Time now over time of the baseline");
  ASSERT_NE(plot, nullptr);
  EXPECT_EQ(plot->series.front().name, "degraded");
  EXPECT_NEAR(plot->series.front().points.front().y, 1.5, 1e-6);
}

TEST(Report, a_plan_says_what_to_take_and_what_the_next_strategy_costs) {
  const Page page = report_of({{"plan.json", plan_json(planted_profile()).dump()}});
  EXPECT_THAT(summary_of(page), ElementsAre(AllOf(HasSubstr("Use streams, 8 chunks: 10.00 ± 1.00 ms predicted"),
                                                  HasSubstr("1.50 times as fast as copy-kernel-copy"),
                                                  HasSubstr("25.0 % above the bound (the link)"))));
  const auto* candidates = std::get_if<Table>(&page.sections.front().details.front());
  ASSERT_NE(candidates, nullptr);
  EXPECT_EQ(candidates->rows[1][3].text, "1.875") << "15 ms over the bound of 8 ms";
}

TEST(Report, a_plan_says_that_strategies_tie_and_what_pinning_takes) {
  Json plan = plan_json(planted_profile());
  plan["candidates"][1]["predicted"]["low"] = 10.5;  // the choice takes 9 to 11 ms
  const Page in_pinned_memory = report_of({{"plan.json", plan.dump()}});
  EXPECT_EQ(std::get<Table>(in_pinned_memory.sections.front().figures.front()).rows[1].back().text,
            "tie, copy-kernel-copy");
  plan["pins"] = true;
  plan["pinning"] = quantity_json(milliseconds(44));
  const Page page = report_of({{"plan.json", plan.dump()}});
  EXPECT_THAT(summary_of(page), ElementsAre(HasSubstr("Pin the arrays and use streams")));
  EXPECT_THAT(page.sections.front().sentences,
              Contains(HasSubstr("Pinning the arrays (cudaHostRegister) takes 44.00 ms once")));
}

TEST(Report, only_measured_nodes_are_called_healthy) {
  Profile profile = planted_profile();
  for (const Origin origin : {Origin::simulated, Origin::published}) {
    profile.origin = origin;
    for (const std::string& sentence : summary_of(report_of({file_of(profile)}))) {
      EXPECT_THAT(sentence, Not(HasSubstr("GOOD")));
      EXPECT_THAT(sentence, HasSubstr(to_string(origin)));
    }
  }
}

TEST(Report, an_evaluation_says_how_good_its_predictions_are_and_whether_they_are_of_hardware) {
  Evaluation evaluation;
  evaluation.device = "cuda:0";
  evaluation.device_name = "GPU X";
  EvaluatedWorkload workload{.name = "w"};
  for (const double error : {0.01, 0.02, 0.10}) {
    EvaluatedPoint point;
    point.choice.strategy = "streams";
    point.verified = true;
    point.predicted = Interval<Seconds>::exact(milliseconds(10 * (1 + error)));
    point.models = {{"simulation", milliseconds(10 * (1 + error))}};
    point.samples_ms = {10, 10, 10};
    workload.points.push_back(point);
  }
  evaluation.workloads = {workload};
  Page page = report_of({{"evaluation.json", to_json(evaluation).dump()}});
  // The 95th percentile lies nine tenths of the way from the second to the third.
  EXPECT_THAT(summary_of(page), ElementsAre("Predictions on GPU X: median error 2.0 %, 95th percentile 9.2 %, worst "
                                            "10.0 % over 3 steady points."));
  const Plot* scatter = figure_of<Plot>(page, "Predicted beside observed time");
  ASSERT_NE(scatter, nullptr);
  EXPECT_NEAR(scatter->series.front().points[2].x, 10e-3, 1e-9);
  EXPECT_NEAR(scatter->series.front().points[2].y, 11e-3, 1e-9);
  const Plot* distribution = figure_of<Plot>(page, "Distribution of errors");
  ASSERT_NE(distribution, nullptr);
  EXPECT_NEAR(distribution->series.front().points[1].x, 0.02, 1e-9);
  EXPECT_NEAR(distribution->series.front().points[1].y, 2.0 / 3, 1e-9);
  evaluation.simulated = true;
  page = report_of({{"evaluation.json", to_json(evaluation).dump()}});
  EXPECT_THAT(summary_of(page), ElementsAre(HasSubstr("GPU X (simulated, not observed): median error 2.0 %")));
}

/// The report of a run that took a millisecond, as predicted.
RunView run_of_a_millisecond() {
  const auto millisecond = Interval<Seconds>::exact(milliseconds(1));
  return {.run = {.job = "w",
                  .device = "cuda:0",
                  .planned = {.choice = {}, .predicted = millisecond},
                  .samples = {milliseconds(1)},
                  .observed = millisecond}};
}

TEST(Report, a_wrong_result_comes_first_on_top) {
  RunView view = run_of_a_millisecond();
  view.run.difference = "y[7] is 1, expected 2";
  const Json run = to_json(view);
  EXPECT_THAT(summary_of(report_of({{"run.json", run.dump()}})),
              ElementsAre(HasSubstr("WRONG RESULT: y[7] is 1, expected 2")));
}

TEST(Report, the_map_is_of_the_jobs_shape_and_marks_the_job) {
  const Profile profile = paper_profile();
  const PageOptions options{.map = MapQuestion{.sizes = {1_MiB, 4_MiB}, .kernels = {milliseconds(1), milliseconds(9)}}};
  const Page page = report_of({{"plan.json", plan_json(profile).dump()}, file_of(profile)}, options);
  const MapPlot* map = figure_of<MapPlot>(page, "The fastest strategy over size and kernel time");
  ASSERT_NE(map, nullptr);
  ASSERT_EQ(map->marks.size(), 1u);
  EXPECT_EQ(map->marks[0].name, "fft");
  EXPECT_EQ(map->marks[0].x, in_bytes(3_MiB));
  EXPECT_NEAR(map->marks[0].y, 3e-3, 1e-12);
  EXPECT_THAT(page.sections[2].sentences.front(), HasSubstr("67 % of their bytes going in"));
}

TEST(Report, a_map_whose_profile_is_not_known_is_left_out_with_a_word) {
  PageOptions options{.map = MapQuestion{.sizes = {1_MiB}, .kernels = {milliseconds(1)}}};
  const Json plan = plan_json(paper_profile());
  Page page = report_of({{"plan.json", plan.dump()}}, options);
  EXPECT_EQ(figure_of<MapPlot>(page, "The fastest strategy over size and kernel time"), nullptr);
  EXPECT_THAT(page.sections.back().sentences, Contains(HasSubstr("There is no map of strategies")));
  options.find_profile = [](const std::string&) { return std::optional(planted_profile()); };
  page = report_of({{"plan.json", plan.dump()}}, options);
  EXPECT_THAT(page.sections.back().sentences, Contains(HasSubstr("There is no map"))) << "its hash is another one";
  options.find_profile = [](const std::string&) { return std::optional(paper_profile()); };
  EXPECT_EQ(report_of({{"plan.json", plan.dump()}}, options).sections.size(), 2u);
}

TEST(Report, a_plan_and_the_run_of_its_job_have_one_mark_and_jobs_in_other_memory_none) {
  const Profile profile = paper_profile();
  Json pageable = plan_json(profile);
  pageable["job"] = "other";
  pageable["shape"]["memory"] = "pageable";
  const PageOptions options{.map = MapQuestion{.sizes = {1_MiB, 4_MiB}, .kernels = {milliseconds(1), milliseconds(9)}}};
  const std::string plan = plan_json(profile).dump();
  const Page page = report_of({{"a", plan}, {"b", plan}, {"c", pageable.dump()}, file_of(profile)}, options);
  const MapPlot* map = figure_of<MapPlot>(page, "The fastest strategy over size and kernel time");
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->marks.size(), 1u);
  EXPECT_THAT(page.sections.back().sentences, Contains(AllOf(HasSubstr("Not on this map"), HasSubstr("other"))));
}

TEST(Report, every_strategy_is_among_the_words) {
  const Page page = report_of({file_of(planted_profile())});
  for (const char* strategy : {"streams", "implicit", "hybrid-mirror", "staged"})
    EXPECT_EQ(std::ranges::count(page.words, fmt::format("strategy {}", strategy), &Word::word), 1) << strategy;
}

TEST(Report, large_numbers_are_those_that_the_reader_of_each_record_asks_for) {
  const auto labels = [](const Page& page) {
    std::vector<std::string> all;
    for (const Headline& headline : page.sections.front().headlines)
      for (const KeyNumber& number : headline.numbers) all.push_back(fmt::format("{}: {}", number.label, number.value));
    return all;
  };
  Profile profile = planted_profile();
  EXPECT_THAT(labels(report_of({{"plan.json", plan_json(profile).dump()}})),
              ElementsAre("predicted: 10.00 ± 1.00 ms", "as fast as copy-kernel-copy: 1.50 times",
                          "above the bound (the link): 25.0 %"));
  RunView view = run_of_a_millisecond();
  view.run.ideal_overlap = Interval<Seconds>::exact(milliseconds(0.8));
  view.run.bound = milliseconds(0.5);
  EXPECT_THAT(labels(report_of({{"run.json", to_json(view).dump()}})),
              ElementsAre(HasSubstr("observed: 1.000 ms"), "ideal overlap: 1.25 times", "above the bound: 100 %",
                          "predicted, against observed: 0 %"));
  profile.origin = Origin::measured;
  profile.conditions["gpu.link"] = "32.0 GT/s PCIe x16";
  EXPECT_THAT(labels(report_of({{"check.json", checked(check_profile(profile))}})),
              AllOf(Contains(HasSubstr("figures good: ")), Contains(HasSubstr("copies to the GPU: ")),
                    Contains(HasSubstr("of what the link allows: "))));
}

TEST(Report, health_comes_before_the_curves) {
  Profile profile = planted_profile();
  profile.measurements = {testing::events("copy.pinned.h2d", {{"bytes", 1e6}}, 100),
                          testing::events("copy.pinned.h2d", {{"bytes", 4e6}}, 200)};
  const Section section = report_of({file_of(profile)}).sections.front();
  const auto* health = std::get_if<Table>(&section.figures.front());
  ASSERT_NE(health, nullptr);
  EXPECT_EQ(health->title, "Each figure and its limit");
  EXPECT_NE(std::get_if<Plot>(&section.figures.at(1)), nullptr);
}

TEST(Report, curves_of_one_direction_have_one_colour_and_dashes_of_their_memory) {
  Profile profile = planted_profile();
  for (const char* primitive : {"copy.pinned.h2d", "copy.pageable.h2d", "copy.pinned.d2h"})
    for (const double bytes : {1e6, 4e6})
      profile.measurements.push_back(testing::events(primitive, {{"bytes", bytes}}, 100));
  const Page page = report_of({file_of(profile)});
  const Plot* rates = figure_of<Plot>(page, "Rate of one copy over its size");
  ASSERT_NE(rates, nullptr);
  std::vector<std::string> drawn;
  for (const Series& one : rates->series) drawn.push_back(fmt::format("{}: {} {}", one.name, one.thing, one.dashes));
  EXPECT_THAT(drawn, ElementsAre("pinned H2D: h2d ", "pinned D2H: d2h ", "pageable H2D: h2d 8 4"));
}

TEST(Report, the_title_says_which_nodes_were_not_measured) {
  Profile profile = planted_profile();
  profile.origin = Origin::simulated;
  EXPECT_THAT(report_of({file_of(profile)}).title, HasSubstr("(simulated)"));
  profile.origin = Origin::measured;
  EXPECT_THAT(report_of({file_of(profile)}).title, Not(HasSubstr("(")));
}

TEST(Report, each_sentence_on_a_node_names_it) {
  Profile profile = planted_profile();
  profile.origin = Origin::measured;
  const Page page = report_of({file_of(profile), {"check.json", checked(check_profile(profile))}});
  std::vector<std::string> judged;
  for (const std::string& sentence : summary_of(page))
    if (sentence.starts_with("GOOD profile planted:") || sentence.starts_with("GOOD n1 cuda:0:"))
      judged.push_back(sentence);
  EXPECT_EQ(judged.size(), 2u) << "the profile's and the check's, each by its name";
}

TEST(Report, nonsense_in_an_op_or_a_time_is_refused_with_its_key) {
  RunView view = run_of_a_millisecond();
  view.run.simulated = true;
  view.timeline = {{.name = "x", .span = {milliseconds(2), milliseconds(3), Engine::compute}}};
  Json run = to_json(view);
  EXPECT_NE(figure_of<TimelinePlot>(report_of({{"run.json", run.dump()}}), "Timeline: predicted above simulated"),
            nullptr);
  run["timeline"][0]["end"] = quantity_json(milliseconds(1));
  EXPECT_THAT(message_of([&] { report_of({{"run.json", run.dump()}}); }), HasSubstr("run.json: timeline[0].end"));
  const auto refusal = [&](const Json& changed) {
    return message_of([&] { report_of({{"run.json", changed.dump()}}); });
  };
  run["timeline"][0]["end"] = quantity_json(milliseconds(3));
  Json nonsense = run;
  nonsense["timeline"][0]["start"]["value"] = -1;
  EXPECT_THAT(refusal(nonsense), HasSubstr("timeline[0].start.value"));
  nonsense = run;
  nonsense["timeline"][0]["end"] = quantity_json(Seconds{1e308});
  EXPECT_THAT(refusal(nonsense), HasSubstr("timeline[0].end"));
  nonsense = run;
  nonsense["timeline"][0]["chunk"] = (1ull << 32) + 5;
  EXPECT_THAT(refusal(nonsense), HasSubstr("timeline[0].chunk"));
  nonsense = run;
  nonsense["observed"]["value"] = 0;
  EXPECT_THAT(refusal(nonsense), HasSubstr("observed.value"));
  nonsense = run;
  nonsense["bound"] = quantity_json(Seconds{0});
  EXPECT_THAT(refusal(nonsense), HasSubstr("bound.value"));
  run["timeline"][0]["engine"] = "warp drive";
  EXPECT_THAT(message_of([&] { report_of({{"run.json", run.dump()}}); }), HasSubstr("timeline[0].engine"));
}

/// What `shiplap reproduce --json` prints of a paper with one claim for each of these verdicts, and one plot.
Json reproduction_json(const std::vector<std::string>& verdicts, bool simulated) {
  Json claims = Json::array();
  for (const std::string& verdict : verdicts)
    claims.push_back(
        {{"id", "fig5"},
         {"where", "Fig. 5"},
         {"text", "16 MB take 1.4 ms"},
         {"verdict", verdict},
         {"findings",
          {{{"step", "transfers"}, {"verdict", verdict}, {"observed", "0.3 ms"}, {"why", "another link"}}}}});
  claims.push_back(
      {{"id", "fig6"}, {"where", "Fig. 6"}, {"text", "t"}, {"verdict", nullptr}, {"findings", Json::array()}});
  const Plot plot{.title = "Fig. 5: bursts",
                  .series = {{.name = "here", .points = {{.x = 1, .y = 2e-3}, {.x = 2, .y = 3e-3}}},
                             {.name = "published", .points = {{.x = 1, .y = 1e-3}}, .is_line = false}}};
  return {{"schema", "shiplap/reproduction"},
          {"version", 3},
          {"paper", "werkhoven2014"},
          {"device", "cuda:0"},
          {"device_name", "NVIDIA H200"},
          {"simulated", simulated},
          {"quick", false},
          {"conditions", Json::object()},
          {"profile", "h200"},
          {"profile_hash", "0123456789abcdef"},
          {"claims", claims},
          {"plots", {to_json(plot)}},
          {"steps", {{"transfers", {{"seconds", 1.5}, {"figures", Json::array()}}}}}};
}

TEST(Report, a_reproduction_has_its_curves_with_the_published_points_and_counts_its_verdicts) {
  const Page page =
      report_of({{"w.json", reproduction_json({"holds", "does not hold on this hardware", "holds"}, false).dump()}});
  EXPECT_THAT(titles_of(page), ElementsAre("Reproduction of werkhoven2014 on NVIDIA H200"));
  EXPECT_THAT(summary_of(page),
              ElementsAre("werkhoven2014 on NVIDIA H200: 4 claims: holds 2, does not hold on this hardware 1, not run "
                          "yet 1."));
  const Plot* plot = figure_of<Plot>(page, "Fig. 5: bursts");
  ASSERT_NE(plot, nullptr);
  ASSERT_EQ(plot->series.size(), 2u);
  EXPECT_EQ(plot->series[0].points.at(1).y, 3e-3);
  EXPECT_FALSE(plot->series[1].is_line);
  const Table* claims = figure_of<Table>(page, "Claims of the paper");
  ASSERT_NE(claims, nullptr);
  ASSERT_EQ(claims->rows.size(), 4u);
  for (const auto& row : claims->rows) EXPECT_EQ(row.size(), claims->columns.size());
}

TEST(Report, a_simulated_reproduction_says_so_on_top) {
  const Page page = report_of({{"w.json", reproduction_json({"consistent with the model"}, true).dump()}});
  EXPECT_THAT(summary_of(page), Contains(HasSubstr("(simulated)")));
  EXPECT_THAT(page.sections.front().sentences, Contains(HasSubstr("nothing was observed")));
}

TEST(Report, a_damaged_plot_of_a_reproduction_is_refused_with_its_key) {
  Json json = reproduction_json({"holds"}, false);
  json["plots"][0]["series"][0]["y"].push_back(1);
  EXPECT_THAT(message_of([&] { report_of({{"w.json", json.dump()}}); }), HasSubstr("plots[0].series[0].y"));
  json = reproduction_json({"holds"}, false);
  json["plots"][0]["x"]["unit"] = "furlong";
  EXPECT_THAT(message_of([&] { report_of({{"w.json", json.dump()}}); }), HasSubstr("plots[0].x.unit"));
  json = reproduction_json({"holds"}, false);
  json["plots"][0]["kind"] = "map";
  EXPECT_THAT(message_of([&] { report_of({{"w.json", json.dump()}}); }), HasSubstr("plots[0].kind"));
}

}  // namespace
}  // namespace shiplap::page
