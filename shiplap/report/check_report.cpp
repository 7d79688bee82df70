#include "shiplap/report/check_report.hpp"

#include <fmt/format.h>

namespace shiplap {

std::string check_report(const std::vector<CheckedFigure>& figures, const TextStyle& style) {
  Table table({{"figure", Align::left},
               {"measured", Align::right},
               {"limit", Align::left},
               {"of limit", Align::right},
               {"good from", Align::right},
               {"", Align::left}});
  std::string causes;
  for (const CheckedFigure& f : figures) {
    const bool known = f.verdict != Verdict::unknown;
    const bool fine = !known || f.verdict == Verdict::good;
    table.add({f.what, f.measured, f.limit, known ? percent(f.fraction) : "–", known ? percent(f.expected) : "–",
               fine ? to_string(f.verdict) : bold(to_string(f.verdict), style)});
    if (!f.causes.empty()) causes += "\n" + wrap(fmt::format("{}: {}", f.what, f.causes), style.width, "  ") + "\n";
  }
  return table.text(style) + causes;
}

}  // namespace shiplap
