#include "shiplap/report/plan_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

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
    if (line.find("→ ") < 4) return line;
  return {};
}

TEST(PlanReport, marks_the_choice_in_a_table_that_is_sorted_by_predicted_time) {
  for (const double kernel_ms : {0.05, 0.9, 2.0}) {
    const Plan made = plan(node_of(planted_profile()), job_of(8_MiB, milliseconds(kernel_ms)));
    const std::string text = plan_report(made);
    EXPECT_NE(text.find("sorted by predicted time; → is what the plan chooses"), std::string::npos) << text;
    const std::string line = marked_line(text);
    EXPECT_NE(line.find(with_interval(made.chosen.predicted)), std::string::npos) << text;
    EXPECT_NE(line.find("→ " + std::to_string(made.ranking.first_choice + 1) + "  "), std::string::npos) << text;
  }
}

TEST(PlanExplain, is_the_text_of_the_program_in_lines_of_at_most_100_columns) {
  for (const char* profile : {"h200", "gtx-titan-2014"})
    for (const Bytes size : {64_KiB, 64_MiB})
      for (const MemoryKind memory : {MemoryKind::pinned, MemoryKind::pageable}) {
        const Job job = job_of(size, milliseconds(1), memory);
        try {
          const Plan made = plan(node_of(find_profile(profile)), job, {.runs = 1000});
          EXPECT_EQ(made.explain(), plan_report(made));
          for (const std::string& line : lines_in(made.explain())) EXPECT_LE(display_width(line), 100u) << line;
        } catch (const Unsupported&) {
          EXPECT_EQ(memory, MemoryKind::pageable) << profile;
        }
      }
}

TEST(PlanExplain, explains_the_plan_that_was_chosen_where_arrays_are_pinned_for_it) {
  const Plan made =
      plan(node_of(find_profile("h200")), job_of(64_MiB, milliseconds(0.1), MemoryKind::pageable), {.runs = 100'000});
  ASSERT_TRUE(made.pins);
  EXPECT_EQ(made.ranking.best().choice, made.chosen.choice);
  const std::string text = made.explain();
  EXPECT_NE(marked_line(text).find(made.chosen.choice.strategy), std::string::npos) << text;
  EXPECT_NE(made.ranking.why.find(to_string(made.chosen.choice) + " is predicted"), std::string::npos)
      << made.ranking.why;
  EXPECT_LT(text.find("arrays: pageable; the plan pins them for 100000 runs"), text.find("rank")) << text;
  EXPECT_NE(text.find("pageable, staged: the plan pins the arrays, which is faster from"), std::string::npos) << text;
}

TEST(PlanExplain, says_when_the_time_of_the_kernel_was_derived_and_from_what) {
  Job job = job_of(64_MiB, milliseconds(1));
  job.cost = {};
  const std::string text = plan(node_of(find_profile("h200")), job).explain();
  EXPECT_NE(text.find("kernel time: derived from bytes alone, because the job states no operations"), std::string::npos)
      << text;
  EXPECT_NE(text.find("not measured"), std::string::npos) << text;
  const std::string stated = plan(node_of(find_profile("h200")), job_of(64_MiB, milliseconds(1))).explain();
  EXPECT_EQ(stated.find("not measured"), std::string::npos) << stated;
}

TEST(PlanExplain, begins_with_the_virtual_device_that_it_is_for) {
  const auto gpu = open_virtual(find_profile("h200"), "virtual:h200");
  std::vector<float> x(1 << 20);
  const auto job = Job{x.size()}.inout("x", x).host_kernel([](Chunk, auto) {});
  const std::string text = plan(node_of(*gpu, find_profile("h200")), job).explain();
  EXPECT_TRUE(text.starts_with("Simulated: virtual:h200 is a virtual device")) << text;
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
