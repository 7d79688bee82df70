#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "shiplap/core/record.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/pipeline/plan_view.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/sections.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Job job_of(Bytes size, Seconds kernel, MemoryKind memory = MemoryKind::pinned) {
  Job job = in_out_job(size, size, kernel, size.count / 4);
  job.items_per_block = 1024;
  for (Array& array : job.arrays) array.memory = memory;
  return job;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The line of the table that is marked as the choice.
std::string marked_line(const std::string& text) {
  for (const std::string& line : lines_in(text))
    if (line.find("→ ") != std::string::npos) return line;
  return {};
}

std::string first_sentence(const Plan& plan) {
  return document::plan_section(plan_view(plan)).headlines.front().sentence;
}

TEST(PlanSection, answers_first_what_to_use_how_long_it_takes_and_what_it_gains) {
  for (const double kernel_ms : {0.05, 0.9, 2.0}) {
    const Plan made = plan(node_of(planted_profile()), job_of(8_MiB, milliseconds(kernel_ms)));
    const std::string answer = first_sentence(made);
    EXPECT_THAT(answer, StartsWith("Use " + made.chosen.choice.strategy));
    EXPECT_THAT(answer, HasSubstr(with_interval(made.chosen.predicted)));
    EXPECT_THAT(answer, HasSubstr("above the bound (" + made.ranking.bound.set_by() + ")"));
    for (const Candidate& candidate : made.ranking.candidates)
      if (candidate.choice.strategy == "explicit" && made.chosen.choice.strategy != "explicit") {
        EXPECT_THAT(answer, HasSubstr(fmt::format("{:.2f} times as fast as copy-kernel-copy",
                                                  candidate.predicted.value / made.chosen.predicted.value)));
      }
  }
}

TEST(PlanSection, marks_the_choice_among_the_best_of_each_strategy) {
  const Plan made = plan(node_of(find_profile("h200")), job_of(64_MiB, milliseconds(1)));
  const std::string text = made.explain();
  EXPECT_THAT(marked_line(text), HasSubstr(made.chosen.choice.strategy));
  EXPECT_THAT(marked_line(text), HasSubstr(with_interval(made.chosen.predicted)));
  std::size_t rows = 0;
  for (const document::Figure& figure : document::plan_section(plan_view(made)).figures)
    rows += std::get<Table>(figure).rows.size();
  std::set<std::string> strategies;
  for (const Candidate& candidate : made.ranking.candidates) strategies.insert(candidate.choice.strategy);
  EXPECT_EQ(rows, strategies.size() + 1) << "and ideal overlap";
  EXPECT_THAT(text, HasSubstr("\n  ideal overlap "));
}

TEST(PlanSection, has_every_candidate_the_losses_the_refusals_and_the_assumptions_as_details) {
  Job job = job_of(64_MiB, milliseconds(1));
  job.waits = true;
  const Plan made = plan(node_of(find_profile("h200")), job);
  const std::string all = made.explain(true);
  ASSERT_FALSE(made.ranking.assumptions.empty());
  for (const char* title : {"Candidates", "Above ideal overlap", "cannot do this job", "Assumptions"}) {
    EXPECT_THAT(all, HasSubstr(title));
    EXPECT_THAT(made.explain(), Not(HasSubstr(title)));
  }
}

TEST(PlanSection, is_the_same_for_a_plan_and_for_the_file_of_it) {
  for (const char* profile : {"h200", "gtx-titan-2014"})
    for (const MemoryKind memory : {MemoryKind::pinned, MemoryKind::pageable}) {
      try {
        const Plan made = plan(node_of(find_profile(profile)), job_of(64_MiB, milliseconds(1), memory), {.runs = 1000});
        const Json file = made.to_json();
        const auto read = Form<PlanView>::read(JsonReader(file, "plan.json"));
        using document::Detail;
        EXPECT_EQ(document::text(document::plan_section(read), {}, Detail::all),
                  document::text(document::plan_section(plan_view(made)), {}, Detail::all));
      } catch (const Unsupported&) {
        EXPECT_EQ(memory, MemoryKind::pageable) << profile;
      }
    }
}

TEST(PlanExplain, has_25_short_lines_at_most) {
  for (const char* profile : {"h200", "gtx-titan-2014"})
    for (const Bytes size : {64_KiB, 64_MiB}) {
      const Plan made = plan(node_of(find_profile(profile)), job_of(size, milliseconds(1)));
      const std::vector<std::string> lines = lines_in(made.explain());
      EXPECT_LE(lines.size(), 25u) << made.explain();
      for (const std::string& line : lines) EXPECT_LE(display_width(line), 80u) << line;
      for (const std::string& line : lines_in(made.explain(true))) EXPECT_LE(display_width(line), 80u) << line;
    }
}

TEST(PlanExplain, says_what_pinning_gains_where_arrays_are_pinned_for_the_plan) {
  const Plan made =
      plan(node_of(find_profile("h200")), job_of(64_MiB, milliseconds(0.1), MemoryKind::pageable), {.runs = 100'000});
  ASSERT_TRUE(made.pins);
  EXPECT_EQ(made.ranking.best().choice, made.chosen.choice);
  EXPECT_THAT(first_sentence(made), StartsWith("Pin the arrays and use " + made.chosen.choice.strategy));
  ASSERT_TRUE(made.memory->plain_copies_time);
  EXPECT_THAT(first_sentence(made),
              HasSubstr(fmt::format(
                  "{:.2f} times as fast over 100000 runs as plain copies, pinning included",
                  1e5 * *made.memory->plain_copies_time / made.memory->find(Preparation::registered)->total_time)));
  const Plan once = plan(node_of(find_profile("h200")), job_of(64_MiB, milliseconds(0.1), MemoryKind::pageable));
  ASSERT_FALSE(once.pins);
  const auto pays_from = once.memory->find(Preparation::registered)->pays_from;
  ASSERT_TRUE(pays_from);
  EXPECT_THAT(document::plan_section(plan_view(once)).headlines.front().sentence,
              HasSubstr("Pinning pays from about " + std::to_string(*pays_from) + " runs over the same arrays on"));
  EXPECT_THAT(once.explain(), HasSubstr("Registering the arrays (cudaHostRegister) takes "));
  EXPECT_THAT(made.explain(), Not(HasSubstr("Memory of the arrays")));
  EXPECT_THAT(made.explain(true), HasSubstr("Memory of the arrays"));
  EXPECT_THAT(made.ranking.why, HasSubstr(to_string(made.chosen.choice) + " is "));
}

TEST(PlanExplain, says_what_all_runs_take_and_from_which_run_on_pinning_pays_within_the_intervals) {
  const Plan once = plan(node_of(find_profile("h200")), job_of(64_MiB, milliseconds(0.1), MemoryKind::pageable));
  const MemoryWay& left = *once.memory->find(Preparation::none);
  const MemoryWay& pinned = *once.memory->find(Preparation::registered);
  PlanView view = plan_view(once);
  const auto sentence = [&](Seconds low, Seconds high) {
    for (MemoryWay& way : view.memory->ways)
      if (way.preparation == Preparation::none) way.best.predicted = {(low + high) / 2.0, low, high};
    return document::text(document::plan_section(view), {.width = 1000});
  };
  const Interval<Seconds> then = pinned.best.predicted;
  const Seconds setup = pinned.setup_time - left.setup_time;
  // A tenth of the set-up gained in every run at least, and a quarter at most, and a little.
  EXPECT_THAT(sentence(then.high + setup * 0.101, then.low + setup * 0.251),
              HasSubstr("by the intervals from 4 to 10 runs on"));
  EXPECT_THAT(sentence(then.high * 0.99, then.low + setup * 0.251),
              HasSubstr("by the intervals from 4 runs on at the earliest, or never"));
  const Plan often =
      plan(node_of(find_profile("h200")), job_of(64_MiB, milliseconds(0.1), MemoryKind::pageable), {.runs = 1000});
  const std::string text = document::text(document::plan_section(plan_view(often)), {.width = 1000});
  EXPECT_THAT(text, HasSubstr(to_string(often.memory->find(Preparation::registered)->total_time) +
                              " for 1000 runs in all, with the pinning"));
  EXPECT_THAT(text, HasSubstr("by the intervals pinning pays from"));
  EXPECT_THAT(text, HasSubstr("plain copies"));
  EXPECT_THAT(text, Not(HasSubstr("out of pinned memory")));
}

TEST(PlanSection, of_a_file_without_the_time_of_plain_copies_compares_pinning_with_the_best_of_pageable_arrays) {
  const Plan made =
      plan(node_of(find_profile("h200")), job_of(64_MiB, milliseconds(0.1), MemoryKind::pageable), {.runs = 100'000});
  PlanView view = plan_view(made);
  view.memory->plain_copies_time.reset();
  EXPECT_THAT(document::plan_section(view).headlines.front().sentence,
              HasSubstr("times as fast over 100000 runs as staged from pageable arrays"));
}

TEST(PlanSection, marks_what_ties_with_the_choice_and_not_with_another_candidate) {
  PlanView view = plan_view(plan(node_of(find_profile("h200")), job_of(64_MiB, milliseconds(1))));
  const Candidate chosen = view.chosen;
  const auto other = std::ranges::find_if(view.ranking.candidates, [&](const Candidate& candidate) {
    return candidate.choice.strategy != chosen.choice.strategy;
  });
  ASSERT_NE(other, view.ranking.candidates.end());
  Candidate second = *other;
  const auto note_of_second = [&] {
    view.ranking.candidates = {chosen, second};
    view.ranking.first_choice = 0;
    return std::get<Table>(document::plan_section(view).figures.front()).rows.at(1).back().text;
  };
  second.tied_with_fastest = false;
  second.predicted.low = chosen.predicted.high;
  EXPECT_EQ(note_of_second(), "tie");
  second.tied_with_fastest = true;
  second.predicted.low = chosen.predicted.high + milliseconds(1);
  EXPECT_EQ(note_of_second(), "");
}

TEST(PlanExplain, says_when_the_time_of_the_kernel_was_derived_and_from_what) {
  Job job = job_of(64_MiB, milliseconds(1));
  job.cost = {};
  const auto words = [](const Plan& made) { return document::plan_section(plan_view(made)).sentences.at(1); };
  EXPECT_THAT(words(plan(node_of(find_profile("h200")), job)),
              HasSubstr("kernel time derived from bytes alone, because the job states no operations"));
  EXPECT_THAT(words(plan(node_of(find_profile("h200")), job_of(64_MiB, milliseconds(1)))), Not(HasSubstr("derived")));
}

TEST(PlanExplain, names_the_virtual_device_that_it_is_for) {
  const auto gpu = open_virtual(find_profile("h200"), "virtual:h200");
  std::vector<float> x(1 << 20);
  const auto job = Job{x.size()}.inout("x", x).host_kernel([](Chunk, auto) {});
  const Plan made = plan(node_of(*gpu, find_profile("h200")), job);
  EXPECT_THAT(first_sentence(made), HasSubstr("predicted (simulated "));
  EXPECT_THAT(made.explain(), HasSubstr("Simulated: virtual:h200 is a virtual device"));
}

TEST(RaceResultText, says_when_the_race_was_simulated) {
  RaceResult result{
      .finalists = {{.choice = {.strategy = "explicit", .chunks = 1}, .predicted = {}, .seconds = {1e-3}}}};
  EXPECT_EQ(result.to_string().find("simulated"), std::string::npos);
  result.simulated = true;
  EXPECT_NE(result.to_string().find("won a simulated race"), std::string::npos) << result.to_string();
}

}  // namespace
}  // namespace shiplap
