// The metrics of a check, read again by a small parser of Prometheus' text format 0.0.4.
#include "shiplap/report/check_metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/prometheus_text.hpp"
#include "tests/support/sick_node.hpp"

namespace shiplap {
namespace {

NodeCheck sound_check() { return check_profile(sound_profile()); }

PrometheusText metrics_of(const NodeCheck& checked, const CheckedNode& node = {.node = "node7", .gpu = "cuda:0"}) {
  return PrometheusText(check_metrics(node, checked, {.duration = Seconds{12.5}, .finished = Seconds{1.7e9}}));
}

TEST(CheckMetrics, are_valid_text_with_help_and_type_before_the_samples_of_each_metric) {
  for (const NodeCheck& checked : {sound_check(), NodeCheck{}}) {
    const PrometheusText text = metrics_of(checked);
    EXPECT_THAT(text.problems(), ::testing::IsEmpty());
    for (const auto& sample : text.samples()) {
      EXPECT_TRUE(sample.name.starts_with("shiplap_check_")) << sample.name;
      EXPECT_EQ(sample.labels.at("node"), "node7");
      EXPECT_EQ(sample.labels.at("gpu"), "cuda:0");
    }
  }
}

TEST(CheckMetrics, give_each_figure_in_base_units) {
  const PrometheusText text = metrics_of(sound_check());
  const auto of = [&](const char* name, const char* figure) { return text.value(name, {{"figure", figure}}); };
  EXPECT_NEAR(of("shiplap_check_bandwidth_bytes_per_second", "copies to the GPU").value(), 55.46e9, 0.01e9);
  EXPECT_NEAR(of("shiplap_check_bandwidth_limit_bytes_per_second", "copies to the GPU").value(), 63.015e9, 1e6);
  EXPECT_NEAR(of("shiplap_check_limit_ratio", "copies to the GPU").value(), 0.88, 0.005);
  EXPECT_DOUBLE_EQ(of("shiplap_check_good_ratio", "copies to the GPU").value(), 0.72);
  EXPECT_NEAR(of("shiplap_check_arithmetic_flops_per_second", "fp32 multiply-adds").value(), 61.9e12, 0.1e12);
  EXPECT_FALSE(of("shiplap_check_bandwidth_bytes_per_second", "fp32 multiply-adds"));
  EXPECT_DOUBLE_EQ(of("shiplap_check_limit_ratio", "bytes that arrived").value(), 1);
  EXPECT_DOUBLE_EQ(text.value("shiplap_check_duration_seconds", {}).value(), 12.5);
  EXPECT_DOUBLE_EQ(text.value("shiplap_check_timestamp_seconds", {}).value(), 1.7e9);
}

TEST(CheckMetrics, set_exactly_one_verdict_of_the_node_and_of_each_figure) {
  NodeCheck busy;
  busy.busy = {"the GPU is in use"};
  for (const auto& [checked, verdict] : {std::pair{sound_check(), "good"}, {busy, "busy"}, {NodeCheck{}, "unknown"}}) {
    const PrometheusText text = metrics_of(checked);
    double sum = 0;
    for (const auto& sample : text.samples())
      if (sample.name == "shiplap_check_verdict") sum += sample.value;
    EXPECT_EQ(sum, 1);
    EXPECT_EQ(text.value("shiplap_check_verdict", {{"verdict", verdict}}), 1);
  }
}

TEST(CheckMetrics, leave_out_what_was_not_measured) {
  NodeCheck checked = sound_check();
  for (CheckedFigure& f : checked.figures) {
    CheckedFigure unknown;
    unknown.what = f.what;
    unknown.unit = f.unit;
    f = unknown;
  }
  const PrometheusText text = metrics_of(checked);
  EXPECT_FALSE(text.value("shiplap_check_limit_ratio", {{"figure", "device memory"}}));
  EXPECT_EQ(text.value("shiplap_check_figure_verdict", {{"figure", "device memory"}, {"verdict", "unknown"}}), 1);
}

TEST(CheckMetrics, escape_what_labels_may_not_hold) {
  const CheckedNode odd{.node = "a\"b\\c\nd", .gpu = "file \\n .json"};
  const PrometheusText text = metrics_of(sound_check(), odd);
  EXPECT_THAT(text.problems(), ::testing::IsEmpty());
  EXPECT_EQ(text.samples().front().labels.at("node"), odd.node);
  EXPECT_EQ(text.samples().front().labels.at("gpu"), odd.gpu);
}

TEST(PrometheusTextOfTests, finds_what_the_format_forbids) {
  for (const char* wrong :
       {"# HELP a b\n# TYPE a gauge\na{x=\"1\"} 1", "a 1\n", "# HELP a b\n# TYPE a gauge\na{x=\"1} 2\n",
        "# HELP a b\n# TYPE a gauge\na{x=\"1\"} x\n", "# HELP a b\n# TYPE a gauge\na 1\na 2\n",
        "# HELP a b\n# TYPE a sort\na 1\n", "# HELP a b\n# TYPE a gauge\n"})
    EXPECT_FALSE(PrometheusText(wrong).problems().empty()) << wrong;
  EXPECT_TRUE(PrometheusText("# HELP a b\n# TYPE a gauge\na 1\na{x=\"1\"} 2.5e3\n").problems().empty());
}

}  // namespace
}  // namespace shiplap
