#include "shiplap/report/evaluate_csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace shiplap {
namespace {

/// The fields of a line; a quoted one may hold commas.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

TEST(EvaluationCsv, has_a_line_for_each_point_with_as_many_fields_as_names) {
  Evaluation evaluation;
  EvaluatedWorkload workload;
  workload.name = "scalar-add:in=1MiB,out=2MiB";
  workload.points.push_back({.choice = {.strategy = "streams", .chunks = 4, .batched = true},
                             .predicted = {milliseconds(1.1), milliseconds(1), milliseconds(1.2)},
                             .models = {},
                             .samples_ms = {1, 1.1, 0.9, 1, 1.3},
                             .verified = true,
                             .difference = {}});
  workload.points.push_back({.choice = {.strategy = "implicit", .max_grid = 33, .graph = true},
                             .predicted = Interval<Seconds>::exact(milliseconds(2)),
                             .models = {},
                             .samples_ms = {},
                             .difference = {}});
  evaluation.workloads.push_back(workload);
  std::istringstream lines(evaluation_csv(evaluation));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(fields_of(line));
  ASSERT_EQ(rows.size(), 3u);
  const auto at = [&](std::size_t row, const std::string& name) {
    const auto column = std::find(rows[0].begin(), rows[0].end(), name);
    EXPECT_NE(column, rows[0].end()) << name;
    return rows[row].at(static_cast<std::size_t>(column - rows[0].begin()));
  };
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(at(1, "workload"), "scalar-add:in=1MiB,out=2MiB");
  EXPECT_EQ(at(1, "chunks"), "4");
  EXPECT_EQ(at(1, "batched"), "true");
  EXPECT_EQ(at(1, "predicted_ms"), "1.1");
  EXPECT_EQ(at(1, "observed_ms"), "1") << "the median";
  EXPECT_EQ(at(1, "runs"), "5");
  EXPECT_EQ(at(1, "error"), "0.1");
  EXPECT_EQ(at(2, "blocks"), "33");
  EXPECT_EQ(at(2, "graph"), "true");
  EXPECT_EQ(at(2, "observed_ms"), "") << "it did not run";
  EXPECT_EQ(at(2, "runs"), "0");
}

}  // namespace
}  // namespace shiplap
