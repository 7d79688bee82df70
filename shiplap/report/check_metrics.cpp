#include "shiplap/report/check_metrics.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "shiplap/core/printable.hpp"

namespace shiplap {
namespace {

constexpr std::array all_verdicts{Verdict::good, Verdict::low, Verdict::bad, Verdict::busy, Verdict::unknown};

using Labels = std::vector<std::pair<std::string, std::string>>;

/// A label's value with the three escapes of the format. The format is UTF-8: one byte that is not would make the whole
/// file unreadable.
std::string escaped(const std::string& value) {
  std::string text;
  for (const char c : printable_lines(value)) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text;
}

class MetricsText {
 public:
  explicit MetricsText(const CheckedNode& node) : node_(node) {}

  void begin(std::string_view name, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
  }
  void add(double value, const Labels& more = {}) {
    std::string labels = fmt::format("node=\"{}\",gpu=\"{}\"", escaped(node_.node), escaped(node_.gpu));
    for (const auto& [label, of_label] : more) labels += fmt::format(",{}=\"{}\"", label, escaped(of_label));
    text_ += fmt::format("{}{{{}}} {}\n", name_, labels, value);
  }
  std::string text() && { return std::move(text_); }

 private:
  const CheckedNode& node_;
  std::string_view name_;
  std::string text_;
};

/// A metric with one value for each figure that has one.
struct FigureMetric {
  std::string_view name;
  std::string_view help;
  std::optional<double> (*value)(const CheckedFigure&);
};

std::optional<double> positive(double value) { return value > 0 ? std::optional(value) : std::nullopt; }
std::optional<double> with_unit(const CheckedFigure& f, std::string_view unit, double value) {
  return f.unit == unit ? positive(value) : std::nullopt;
}

constexpr std::array figure_metrics{
    FigureMetric{"shiplap_check_bandwidth_bytes_per_second", "Measured bandwidth.",
                 [](const CheckedFigure& f) { return with_unit(f, "B/s", f.measured_value); }},
    FigureMetric{"shiplap_check_bandwidth_limit_bytes_per_second", "Bandwidth that the hardware allows.",
                 [](const CheckedFigure& f) { return with_unit(f, "B/s", f.limit_value); }},
    FigureMetric{"shiplap_check_arithmetic_flops_per_second", "Measured rate of fp32 operations.",
                 [](const CheckedFigure& f) { return with_unit(f, "flop/s", f.measured_value); }},
    FigureMetric{"shiplap_check_arithmetic_limit_flops_per_second", "Rate of fp32 operations that the hardware allows.",
                 [](const CheckedFigure& f) { return with_unit(f, "flop/s", f.limit_value); }},
    FigureMetric{"shiplap_check_limit_ratio", "Measured value over its limit.",
                 [](const CheckedFigure& f) { return positive(f.fraction); }},
    FigureMetric{"shiplap_check_good_ratio", "Least ratio to the limit that is good.",
                 [](const CheckedFigure& f) { return f.fraction > 0 ? positive(f.expected) : std::nullopt; }}};

}  // namespace

std::string check_metrics(const CheckedNode& node, const NodeCheck& checked, const CheckTiming& timing) {
  MetricsText metrics(node);
  metrics.begin("shiplap_check_verdict", "1 for the verdict on the node, 0 for the others.");
  for (const Verdict verdict : all_verdicts)
    metrics.add(checked.verdict() == verdict ? 1 : 0, {{"verdict", to_string(verdict)}});
  if (!checked.figures.empty()) {
    metrics.begin("shiplap_check_figure_verdict", "1 for the verdict on the figure, 0 for the others.");
    for (const CheckedFigure& f : checked.figures)
      for (const Verdict verdict : all_verdicts)
        metrics.add(f.verdict == verdict ? 1 : 0, {{"figure", f.what}, {"verdict", to_string(verdict)}});
  }
  for (const FigureMetric& metric : figure_metrics) {
    bool begun = false;
    for (const CheckedFigure& f : checked.figures) {
      const std::optional<double> value = metric.value(f);
      if (!value) continue;
      if (!std::exchange(begun, true)) metrics.begin(metric.name, metric.help);
      metrics.add(*value, {{"figure", f.what}});
    }
  }
  metrics.begin("shiplap_check_attempts", "Number of times that the node was measured.");
  metrics.add(checked.attempts);
  metrics.begin("shiplap_check_duration_seconds", "Time that the check took.");
  metrics.add(timing.duration.count());
  metrics.begin("shiplap_check_timestamp_seconds", "End of the check, in Unix time.");
  metrics.add(timing.finished.count());
  return std::move(metrics).text();
}

}  // namespace shiplap
