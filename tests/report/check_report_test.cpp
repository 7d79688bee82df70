#include "shiplap/report/check_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const CheckedNode node7{.node = "node7", .gpu = "cuda:0"};

CheckedFigure figure_with(Verdict verdict, double fraction, unsigned attempts = 1) {
  CheckedFigure figure;
  figure.what = "copies to the GPU";
  figure.measured = fraction > 0 ? "27.80 GB/s" : "not measured within the budget";
  figure.limit = "63.02 GB/s";
  figure.unit = "B/s";
  figure.fraction = fraction;
  figure.expected = 0.72;
  figure.verdict = verdict;
  figure.attempts = attempts;
  return figure;
}

NodeCheck check_with(std::vector<CheckedFigure> figures) {
  NodeCheck checked;
  for (const CheckedFigure& f : figures) checked.attempts = std::max(checked.attempts, f.attempts);
  checked.figures = std::move(figures);
  return checked;
}

TEST(CheckLine, begins_with_the_verdict_and_names_node_gpu_and_reason) {
  NodeCheck busy;
  busy.busy = {"the GPU is in use 87 % of the time", "other programs use 50 % of the time of all CPUs"};
  struct Case {
    NodeCheck checked;
    const char* line;
  };
  for (const Case& c : std::initializer_list<Case>{
           {check_with({figure_with(Verdict::good, 0.9), figure_with(Verdict::unknown, 0)}),
            "OK node7 cuda:0: 1 figures good, 1 unknown"},
           {check_with({figure_with(Verdict::low, 0.65), figure_with(Verdict::good, 0.9)}),
            "LOW node7 cuda:0: copies to the GPU 27.80 GB/s, 65.0 % of the limit"},
           {check_with({figure_with(Verdict::bad, 0.441, 2), figure_with(Verdict::low, 0.65)}),
            "BAD node7 cuda:0: copies to the GPU 27.80 GB/s, 44.1 % of the limit, 2 attempts"},
           {busy,
            "BUSY node7 cuda:0: not judged: the GPU is in use 87 % of the time; other programs use 50 % of the time of "
            "all CPUs"},
           {check_with({figure_with(Verdict::unknown, 0)}),
            "UNKNOWN node7 cuda:0: no figure could be told: not measured within the budget"}})
    EXPECT_EQ(check_line(node7, c.checked), c.line);
}

TEST(CheckLine, is_one_line_without_what_separates_data_for_nagios) {
  const std::string line = failed_check_line(node7, "cannot read a|b\nremedy");
  EXPECT_EQ(line, "UNKNOWN node7 cuda:0: cannot read a/b remedy");
}

TEST(CheckReport, says_who_used_the_node_and_that_nothing_was_judged) {
  NodeCheck checked;
  checked.busy = {"process 4242, python3 holds memory of the GPU"};
  checked.figures = {figure_with(Verdict::unknown, 0)};
  EXPECT_THAT(check_report(checked),
              HasSubstr("The node is busy, so it was not measured: process 4242, python3 holds"));
  checked.attempts = 1;
  checked.figures = {figure_with(Verdict::busy, 0.4)};
  EXPECT_THAT(check_report(checked), HasSubstr("The node is busy, so bad figures are not judged: process 4242"));
  EXPECT_THAT(check_report(checked), HasSubstr("40.0 %"));
}

TEST(CheckReport, says_which_figures_were_measured_again_and_how_often) {
  const NodeCheck again = check_with({figure_with(Verdict::bad, 0.4, 3)});
  EXPECT_THAT(check_report(again), HasSubstr("Measured in 3 attempts"));
  EXPECT_THAT(check_report(again), HasSubstr("copies to the GPU (bad)"));
  EXPECT_THAT(check_report(check_with({figure_with(Verdict::good, 0.9)})), Not(HasSubstr("attempts")));
}

TEST(CheckReport, warns_of_a_governor_that_lowers_the_clock_of_cpus) {
  NodeCheck checked = check_with({figure_with(Verdict::good, 0.9)});
  EXPECT_THAT(check_report(checked), Not(HasSubstr("governor")));
  checked.profile.conditions["host.governor"] = "powersave";
  EXPECT_THAT(check_report(checked), HasSubstr("note: the frequency governor of the CPUs is powersave:"));
}

}  // namespace
}  // namespace shiplap
