#include "shiplap/report/check_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shiplap/core/printable.hpp"

namespace shiplap {
namespace {

std::string line_of(std::string_view word, const CheckedNode& node, std::string_view rest) {
  std::string line = printable(fmt::format("{} {} {}: {}", word, node.node, node.gpu, rest));
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

std::string attempts_text(const NodeCheck& checked) {
  if (checked.attempts < 2) return "";
  std::string names;
  for (const CheckedFigure& f : checked.figures)
    if (f.attempts > 1) names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", f.what, to_string(f.verdict));
  return fmt::format("Measured in {} attempts, because figures were bad in the first: {}.", checked.attempts, names);
}

}  // namespace

std::string check_report(const NodeCheck& checked, const TextStyle& style) {
  Table table({{"figure", Align::left},
               {"measured", Align::right},
               {"limit", Align::left},
               {"of limit", Align::right},
               {"good from", Align::right},
               {"", Align::left}});
  std::string notes;
  const auto add_note = [&](const std::string& text) { notes += "\n" + wrap(text, style.width, "  ") + "\n"; };
  for (const CheckedFigure& f : checked.figures) {
    const bool known = f.fraction > 0;
    const bool fine = f.verdict == Verdict::unknown || f.verdict == Verdict::good;
    table.add({f.what, f.measured, f.limit, known ? percent(f.fraction) : "–", known ? percent(f.expected) : "–",
               fine ? to_string(f.verdict) : bold(to_string(f.verdict), style)});
    if (!f.causes.empty()) add_note(fmt::format("{}: {}", f.what, f.causes));
  }
  if (!checked.busy.empty())
    add_note(fmt::format("The node is busy, so {}: {}. Check it again when it is idle.",
                         checked.attempts == 0 ? "it was not measured" : "bad figures are not judged",
                         fmt::join(checked.busy, "; ")));
  if (const std::string attempts = attempts_text(checked); !attempts.empty()) add_note(attempts);
  if (const std::string warning = governor_warning(checked.profile.conditions); !warning.empty())
    add_note("note: " + warning);
  return table.text(style) + notes;
}

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
  std::string reason = "no figure could be told";
  if (!checked.failed.empty())
    reason += fmt::format(": {}: {}", checked.failed.front().point, checked.failed.front().reason);
  else if (!checked.figures.empty())
    reason += ": " + checked.figures.back().measured;
  return failed_check_line(node, reason);
}

std::string failed_check_line(const CheckedNode& node, std::string_view reason) {
  return line_of("UNKNOWN", node, reason);
}

}  // namespace shiplap
