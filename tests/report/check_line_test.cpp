#include "shiplap/report/check_line.hpp"

#include <gtest/gtest.h>

namespace shiplap {
namespace {

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

}  // namespace
}  // namespace shiplap
