#include "experiments/reproduction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "experiments/page.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/report/sections.hpp"
#include "tests/support/planted_profile.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

int runs_of_second = 0;

StepResult first_step(const Bench& bench) {
  return {.figures = {{.id = "fig1",
                       .where = "Fig. 1",
                       .title = "times",
                       .columns = {{"size", "MiB"}, {"what", ""}, {"time", "ms"}},
                       .rows = {{1.0, std::string("a, \"b\""), 0.125}, {2.0, std::string("c"), {}}},
                       .note = "The second was not run."}},
          .findings = {{.claim = "faster",
                        .verdict = Verdict::holds,
                        .observed = bench.quick ? "quickly" : "1.5 times",
                        .why = ""}}};
}
StepResult second_step(const Bench&) {
  ++runs_of_second;
  return {.figures = {},
          .findings = {
              {.claim = "faster", .verdict = Verdict::does_not_hold, .observed = "0.9 times", .why = "It is new."}}};
}
StepResult unknown_claim(const Bench&) { return {.figures = {}, .findings = {{.claim = "no such"}}}; }
StepResult short_row(const Bench&) {
  return {.figures = {{.id = "f", .columns = {{"a", ""}}, .rows = {{}}}}, .findings = {}};
}

constexpr std::array claims{Claim{"faster", "Table 1", "it is 1.4 times as fast"},
                            Claim{"slower", "section 2", "it is never slower"}};
constexpr std::array steps{Step{"one", "the first", first_step}, Step{"two", "the second", second_step}};
constexpr std::array<std::string_view, 1> faults{"Its g has no unit."};
const Experiment paper{.name = "paper",
                       .title = "A paper",
                       .citation = "Somebody, 2001",
                       .claims = claims,
                       .steps = steps,
                       .faults = faults};

/// The steps run nothing on the device, so that it stands for a GPU as well as for a virtual one.
class ReproductionOfAPaper : public ::testing::Test {
 protected:
  ReproductionOfAPaper() {
    runs_of_second = 0;
    simulate(false);
  }
  void simulate(bool is_virtual) {
    bench.info.is_virtual = is_virtual;
    made = begin_reproduction(paper, bench);
  }
  std::shared_ptr<MeasurableDevice> device = open("virtual:h200");
  Bench bench{.device = *device,
              .info = device->info(),
              .profile = planted_profile(),
              .limits = limits_of(planted_profile()),
              .quick = false};
  Reproduction made = begin_reproduction(paper, bench);
  std::vector<std::size_t> done_after_each;
  bool run(const RunLimits& limits = {}) {
    return run_steps(paper, bench, limits, made,
                     [&](const Reproduction& r, const Step&) { done_after_each.push_back(r.steps.size()); });
  }
  std::string on_a_terminal() const {
    return document::text(document::reproduction_section(reproduction_view(paper, made)), {.width = 1000},
                          document::Detail::all);
  }
};

TEST_F(ReproductionOfAPaper, runs_its_steps_in_order_once_and_tells_after_each) {
  EXPECT_TRUE(run());
  EXPECT_THAT(done_after_each, ::testing::ElementsAre(1, 2));
  EXPECT_TRUE(run());
  EXPECT_EQ(runs_of_second, 1) << "it was done";
  EXPECT_TRUE(run({.only = {"two"}}));
  EXPECT_EQ(runs_of_second, 2) << "it was asked for";
}

TEST_F(ReproductionOfAPaper, begins_no_step_when_the_time_is_spent_and_goes_on_later) {
  EXPECT_FALSE(run({.budget = Seconds{1e-12}}));
  EXPECT_TRUE(made.steps.empty());
  EXPECT_FALSE(run({.only = {"one"}}));
  EXPECT_TRUE(run());
  EXPECT_EQ(runs_of_second, 1);
}

TEST_F(ReproductionOfAPaper, takes_the_worst_word_on_a_claim) {
  run({.only = {"one"}});
  EXPECT_EQ(finding_of(paper, made, "faster")->verdict, Verdict::holds);
  EXPECT_EQ(finding_of(paper, made, "slower"), nullptr);
  run();
  EXPECT_EQ(finding_of(paper, made, "faster")->verdict, Verdict::does_not_hold);
}

Finding word(Verdict verdict, std::string observed) {
  return {.claim = "faster", .verdict = verdict, .observed = std::move(observed), .why = ""};
}

StepResult unchecked_step(const Bench&) { return {.figures = {}, .findings = {{.claim = "slower", .why = "no GPU"}}}; }

TEST_F(ReproductionOfAPaper, on_a_virtual_device_is_consistent_with_the_model_or_contradicts_it_and_never_holds) {
  const std::array all{Step{"one", "", first_step}, Step{"two", "", second_step}, Step{"three", "", unchecked_step}};
  Experiment other = paper;
  other.steps = all;
  simulate(true);
  run_steps(other, bench, {}, made, [](const Reproduction&, const Step&) {});
  EXPECT_EQ(made.steps.at("one").result.findings.front().verdict, Verdict::consistent_with_model) << "holds on a GPU";
  EXPECT_EQ(made.steps.at("two").result.findings.front().verdict, Verdict::contradicts_model);
  EXPECT_EQ(made.steps.at("three").result.findings.front().verdict, Verdict::cannot_be_checked);
  EXPECT_EQ(finding_of(other, made, "faster")->verdict, Verdict::contradicts_model);
  EXPECT_EQ(to_json(reproduction_view(other, made))["claims"][0]["verdict"], "contradicts the model");
}

TEST_F(ReproductionOfAPaper, on_a_gpu_is_decided_by_what_was_observed_and_not_by_equations) {
  const std::array all{Step{"one", "", second_step, false}, Step{"two", "", first_step}};
  Experiment other = paper;
  other.steps = all;
  run_steps(other, bench, {.only = {"one"}}, made, [](const Reproduction&, const Step&) {});
  EXPECT_EQ(finding_of(other, made, "faster")->verdict, Verdict::contradicts_model);
  run_steps(other, bench, {}, made, [](const Reproduction&, const Step&) {});
  EXPECT_EQ(finding_of(other, made, "faster")->verdict, Verdict::holds);
}

StepResult changed_step(const Bench&) { return {.figures = {}, .findings = {word(Verdict::holds_with_a_change, "")}}; }

TEST_F(ReproductionOfAPaper, on_a_virtual_device_is_no_more_than_consistent_where_a_claim_holds_with_a_change) {
  const std::array all{Step{"one", "", changed_step}};
  Experiment other = paper;
  other.steps = all;
  simulate(true);
  run_steps(other, bench, {}, made, [](const Reproduction&, const Step&) {});
  EXPECT_EQ(finding_of(other, made, "faster")->verdict, Verdict::consistent_with_model);
}

TEST_F(ReproductionOfAPaper, is_the_same_after_it_was_written_and_read) {
  run();
  const TemporaryFolder folder;
  const auto file = folder.path() / "reproduction.json";
  const std::string written = to_json(reproduction_view(paper, made)).dump();
  write_file_atomically(file, written);
  const Reproduction read = load_reproduction(file);
  EXPECT_EQ(to_json(reproduction_view(paper, read)).dump(), written);
  EXPECT_NO_THROW(require_same(read, made, file));
  Reproduction quick = made;
  quick.quick = true;
  EXPECT_THROW(require_same(read, quick, file), Error);
  Reproduction elsewhere = made;
  elsewhere.profile_hash = "0";
  EXPECT_THROW(require_same(read, elsewhere, file), Error);
  Reproduction updated = made;
  updated.conditions["gpu.driver"] = "another";
  EXPECT_THROW(require_same(read, updated, file), Error);
  Json wrong = to_json(reproduction_view(paper, made));
  wrong["steps"]["one"]["figures"][0]["rows"][0].push_back(1);
  write_file_atomically(file, wrong.dump());
  EXPECT_THROW(load_reproduction(file), Error);
  wrong = to_json(reproduction_view(paper, made));
  wrong["claims"][0]["findings"][0]["verdict"] = "perhaps";
  write_file_atomically(file, wrong.dump());
  EXPECT_THROW(load_reproduction(file), Error);
  wrong = to_json(reproduction_view(paper, made));
  wrong["claims"][0]["findings"][0]["step"] = "three";
  write_file_atomically(file, wrong.dump());
  EXPECT_THROW(load_reproduction(file), Error);
}

TEST_F(ReproductionOfAPaper, gives_a_claim_one_verdict_however_many_findings_there_are) {
  const auto verdict = [&](std::vector<Finding> first, std::vector<Finding> second) {
    made.steps["one"].result.findings = std::move(first);
    made.steps["two"].result.findings = std::move(second);
    return finding_of(paper, made, "faster")->observed;
  };
  const Finding good = word(Verdict::holds, "good");
  const Finding changed = word(Verdict::holds_with_a_change, "changed");
  const Finding bad = word(Verdict::does_not_hold, "bad");
  const Finding agrees = word(Verdict::consistent_with_model, "agrees");
  const Finding disagrees = word(Verdict::contradicts_model, "disagrees");
  const Finding unknown = word(Verdict::cannot_be_checked, "unknown");
  EXPECT_EQ(verdict({bad}, {good}), "bad") << "in whatever order";
  EXPECT_EQ(verdict({good}, {bad}), "bad");
  EXPECT_EQ(verdict({changed, good}, {good}), "changed");
  EXPECT_EQ(verdict({unknown}, {good}), "good") << "what could be checked decides";
  EXPECT_EQ(verdict({good}, {unknown}), "good");
  EXPECT_EQ(verdict({unknown}, {}), "unknown");
  EXPECT_EQ(verdict({disagrees}, {agrees}), "disagrees");
  EXPECT_EQ(verdict({good}, {disagrees}), "good") << "what was observed outranks what was simulated";
  EXPECT_EQ(verdict({agrees}, {unknown}), "agrees");
  EXPECT_EQ(verdict({word(Verdict::holds, "first")}, {good}), "good") << "of equal ones the last";

  verdict({good, bad}, {unknown});
  const Json json = to_json(reproduction_view(paper, made));
  ASSERT_EQ(json["claims"].size(), 2u);
  EXPECT_EQ(json["claims"][0]["verdict"], "does not hold on this hardware");
  ASSERT_EQ(json["claims"][0]["findings"].size(), 3u);
  EXPECT_EQ(json["claims"][0]["findings"][2]["step"], "two");
  EXPECT_EQ(json["claims"][1]["verdict"], nullptr) << "nothing was found about it";
  const std::string text = page(paper, reproduction_view(paper, made));
  EXPECT_THAT(text, HasSubstr("step `one`, holds: good"));
  EXPECT_THAT(text, HasSubstr("step `two`, cannot be checked: unknown"));
}

StepResult takes_from_the_first(const Bench& bench) {
  const Figure* figure = bench.made_before("fig1");
  const std::string seen = figure == nullptr ? "nothing" : figure->title;
  return {.figures = {}, .findings = {word(Verdict::holds, seen)}};
}

TEST_F(ReproductionOfAPaper, shows_its_steps_the_figures_made_before) {
  const std::array linked{Step{"one", "", first_step}, Step{"two", "", takes_from_the_first}};
  Experiment other = paper;
  other.steps = linked;
  const auto run_of = [&](std::vector<std::string> only) {
    run_steps(other, bench, {.only = std::move(only)}, made, [](const Reproduction&, const Step&) {});
    return made.steps.at("two").result.findings.front().observed;
  };
  EXPECT_EQ(run_of({"two"}), "nothing");
  EXPECT_EQ(run_of({"one", "two"}), "times");
}

TEST_F(ReproductionOfAPaper, refuses_findings_of_no_claim_rows_without_all_cells_and_unknown_steps) {
  const std::array wrong_claim{Step{"one", "", unknown_claim}};
  const std::array wrong_row{Step{"one", "", short_row}};
  for (const std::span<const Step> wrong : {std::span<const Step>(wrong_claim), std::span<const Step>(wrong_row)}) {
    Experiment other = paper;
    other.steps = wrong;
    EXPECT_THROW(run_steps(other, bench, {}, made, [](const Reproduction&, const Step&) {}), Error);
    EXPECT_TRUE(made.steps.empty());
  }
  EXPECT_THROW(run({.only = {"three"}}), UsageError);
  EXPECT_THROW(find_experiment("nobody1999"), UsageError);
}

TEST_F(ReproductionOfAPaper, is_a_page_with_every_claim_its_verdict_and_every_row) {
  simulate(true);
  run({.only = {"one"}});
  const std::string text = page(paper, reproduction_view(paper, made));
  EXPECT_THAT(text, HasSubstr("it is 1.4 times as fast"));
  EXPECT_THAT(text, HasSubstr("1.5 times"));
  EXPECT_THAT(text, HasSubstr("not run yet")) << "the other claim";
  EXPECT_THAT(text, HasSubstr("size (MiB)"));
  EXPECT_THAT(text, HasSubstr("0.125"));
  EXPECT_THAT(text, HasSubstr("The second was not run."));
  EXPECT_THAT(text, HasSubstr("Its g has no unit."));
  EXPECT_THAT(text, HasSubstr(", simulated"));
  EXPECT_THAT(page(paper, reproduction_view(paper, made), 1), HasSubstr("The first 1 of 2 rows"));
  EXPECT_THAT(on_a_terminal(), AllOf(HasSubstr("1.5 times"), Not(HasSubstr("0.9 times"))));
}

TEST_F(ReproductionOfAPaper, begins_its_page_with_the_count_of_verdicts) {
  run();
  EXPECT_THAT(page(paper, reproduction_view(paper, made)),
              ::testing::StartsWith("# A paper\n\n2 claims: does not hold on this hardware 1, not run yet 1.\n"));
}

TEST_F(ReproductionOfAPaper, has_short_cells_in_the_table_of_claims_and_the_texts_below_it) {
  run();
  const std::string text = page(paper, reproduction_view(paper, made));
  EXPECT_THAT(text, ::testing::ContainsRegex("\\| Table 1 +\\| `faster` +\\| does not hold on this hardware +\\|"));
  EXPECT_THAT(text, HasSubstr("  - published: it is 1.4 times as fast\n"));
  EXPECT_THAT(text, HasSubstr("  - step `two`, does not hold on this hardware: 0.9 times. It is new.\n"));
}

TEST_F(ReproductionOfAPaper, says_in_its_first_line_on_a_terminal_that_figures_are_simulated) {
  run();
  EXPECT_THAT(on_a_terminal(), ::testing::StartsWith("paper on " + bench.info.name + ": 2 claims: "));
  simulate(true);
  run();
  EXPECT_THAT(on_a_terminal(), ::testing::StartsWith("paper on " + bench.info.name + " (simulated): 2 claims: "));
  EXPECT_THAT(page(paper, reproduction_view(paper, made)), HasSubstr("Simulated: "));
}

TEST_F(ReproductionOfAPaper, has_figures_as_csv_with_units_and_quotes) {
  EXPECT_EQ(csv(first_step(bench).figures.front()), "size (MiB),what,time (ms)\n1,\"a, \"\"b\"\"\",0.125\n2,c,\n");
}

TEST(Experiments, have_names_claims_and_steps_of_their_own) {
  std::set<std::string_view> names;
  for (const Experiment& e : experiments()) {
    EXPECT_TRUE(names.insert(e.name).second) << e.name;
    EXPECT_EQ(&find_experiment(e.name), &e);
    std::set<std::string_view> ids;
    for (const Claim& claim : e.claims) EXPECT_TRUE(ids.insert(claim.id).second) << claim.id;
    ids.clear();
    for (const Step& step : e.steps) EXPECT_TRUE(ids.insert(step.id).second) << step.id;
  }
}

}  // namespace
}  // namespace shiplap::experiments
