#include "shiplap/report/check_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shiplap/core/printable.hpp"
#include "shiplap/document/table.hpp"
#include "shiplap/measure/node_result.hpp"

namespace shiplap {
namespace {

std::string line_of(std::string_view word, const CheckedNode& node, std::string_view rest) {
  // A monitor must not take a simulated GPU for one of the node.
  const std::string gpu = node.gpu.starts_with("virtual:") ? node.gpu + " (simulated)" : node.gpu;
  const std::string name = node.node == node.gpu ? gpu : fmt::format("{} {}", node.node, gpu);
  std::string line = printable(fmt::format("{} {}: {}", word, name, rest));
  std::ranges::replace(line, '|', '/');
  return line;
}

/// The figures with this verdict, as in "device memory 2.1 TB/s, 43.7 % of the limit".
std::string figures_with(Verdict verdict, const std::vector<CheckedFigure>& figures) {
  std::string text;
  for (const CheckedFigure& f : figures)
    if (f.verdict == verdict)
      text += fmt::format("{}{} {}, {} of the limit{}", text.empty() ? "" : "; ", f.what, f.measured,
                          percent(f.fraction), f.attempts > 1 ? fmt::format(", {} attempts", f.attempts) : "");
  return text;
}

std::string counts_of(const std::vector<CheckedFigure>& figures) {
  const auto good = std::ranges::count(figures, Verdict::good, &CheckedFigure::verdict);
  const auto unknown = std::ranges::count(figures, Verdict::unknown, &CheckedFigure::verdict);
  return fmt::format("{} figures good{}", good, unknown > 0 ? fmt::format(", {} unknown", unknown) : "");
}

}  // namespace

std::string check_line(const CheckedNode& node, const NodeCheck& checked) {
  switch (checked.verdict()) {
    case Verdict::good:
      return line_of("OK", node, counts_of(checked.figures));
    case Verdict::low:
      return line_of("LOW", node, figures_with(Verdict::low, checked.figures));
    case Verdict::bad:
      return line_of("BAD", node, figures_with(Verdict::bad, checked.figures));
    case Verdict::busy:
      return line_of("BUSY", node, fmt::format("not judged: {}", fmt::join(checked.busy, "; ")));
    case Verdict::unknown:
      break;
  }
  if (checked.attempts == 0 && !is_of_a_node(checked.profile.origin))
    return failed_check_line(node, why_not_judged(checked.profile.origin));
  std::string reason = "no figure could be told";
  if (!checked.failed.empty())
    reason += fmt::format(": {}: {}", checked.failed.front().point, checked.failed.front().reason);
  else if (!checked.figures.empty())
    reason += ": " + checked.figures.back().measured;
  return failed_check_line(node, reason);
}

std::string why_not_judged(std::optional<Origin> origin) {
  return fmt::format("its figures are {}, so that they say nothing about a node today",
                     origin ? to_string(*origin) : "of an unknown origin");
}

std::string failed_check_line(const CheckedNode& node, std::string_view reason) {
  return line_of("UNKNOWN", node, reason);
}

}  // namespace shiplap
