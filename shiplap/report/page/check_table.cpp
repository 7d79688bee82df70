#include "shiplap/report/page/check_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/profile/topology.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap::page {
namespace {

/// Whether the figure was compared with its limit while nobody else used the node.
bool is_judged(const CheckedFigure& f) { return f.verdict != Verdict::unknown && f.verdict != Verdict::busy; }

Cell verdict_cell(Verdict verdict) {
  Cell cell(to_string(verdict));
  cell.judgement = verdict == Verdict::good                              ? "good"
                   : verdict == Verdict::low || verdict == Verdict::busy ? "warn"
                   : verdict == Verdict::bad                             ? "bad"
                                                                         : "";
  return cell;
}

Cell fraction_cell(double fraction, bool is_known) { return is_known ? Cell(percent(fraction), fraction) : Cell("–"); }

std::string rate_with_fraction(PerByte cost, double limit) {
  const Bandwidth rate = bandwidth(cost);
  return limit > 0 ? fmt::format("{} ({} of the link's limit)", to_string(rate), percent(rate.bytes_per_second / limit))
                   : to_string(rate);
}

}  // namespace

DataTable check_table(const std::vector<CheckedFigure>& figures) {
  DataTable table{
      .title = "Is the node healthy?",
      .note =
          "Each figure beside what such hardware allows. \"Good from\" is what sound nodes reach; the weakest "
          "figure is lowest beside that.",
      .columns = {"figure", "measured", "limit", "of the limit", "good from", "verdict"}};
  const bool has_causes = std::ranges::any_of(figures, [](const CheckedFigure& f) { return !f.causes.empty(); });
  if (has_causes) table.columns.emplace_back("possible causes");
  for (const CheckedFigure& f : figures) {
    const bool is_known = is_judged(f);
    table.rows.push_back({f.what, f.measured, f.limit, fraction_cell(f.fraction, is_known),
                          fraction_cell(f.expected, is_known), verdict_cell(f.verdict)});
    if (has_causes) table.rows.back().emplace_back(f.causes);
  }
  return table;
}

std::string speed_sentence(const Profile& profile, const std::string& gpu) {
  const LinkModel* const of_gpu = profile.find_link(0);
  if (of_gpu == nullptr || !(of_gpu->h2d.per_byte.value.seconds > 0) || !(of_gpu->d2h.per_byte.value.seconds > 0))
    return "";
  const LinkModel& link = *of_gpu;
  const double limit = pcie_link_rate(condition(profile.conditions, "gpu.link"));
  std::string text = fmt::format("{}: large copies from pinned memory run at {} to the GPU and at {} to the host", gpu,
                                 rate_with_fraction(link.h2d.per_byte.value, limit),
                                 rate_with_fraction(link.d2h.per_byte.value, limit));
  if (link.h2d.duplex && link.d2h.duplex && link.h2d.duplex->per_byte.value.seconds > 0 &&
      link.d2h.duplex->per_byte.value.seconds > 0)
    text += fmt::format("; duplex, at {} and {}", to_string(bandwidth(link.h2d.duplex->per_byte.value)),
                        to_string(bandwidth(link.d2h.duplex->per_byte.value)));
  return text + ".";
}

std::string health_sentence(const std::string& node, const std::vector<CheckedFigure>& figures) {
  const CheckedFigure* weakest = nullptr;
  for (const CheckedFigure& f : figures)
    // A link that is trained as it should be has no room to be weak.
    if (is_judged(f) && f.expected > 0 && !(f.expected >= 1 && f.verdict == Verdict::good) &&
        (weakest == nullptr || f.fraction / f.expected < weakest->fraction / weakest->expected))
      weakest = &f;
  if (weakest == nullptr) return "";
  const auto count = [&](Verdict verdict) { return std::ranges::count(figures, verdict, &CheckedFigure::verdict); };
  const auto known = std::ranges::count_if(figures, is_judged);
  const std::string judged = fmt::format("{} of {} figures can be judged", known, figures.size());
  const std::string health = count(Verdict::bad) > 0   ? fmt::format("something is wrong, {} bad", count(Verdict::bad))
                             : count(Verdict::low) > 0 ? fmt::format("slower than usual, {} low", count(Verdict::low))
                             : known == std::ssize(figures) ? "healthy, every figure is good"
                                                            : "nothing is wrong in what could be judged";
  return fmt::format("{}: {}; {}. The weakest is \"{}\": {}, {} of its limit, where {} is good.", node, health, judged,
                     weakest->what, weakest->measured, percent(weakest->fraction), percent(weakest->expected));
}

}  // namespace shiplap::page
