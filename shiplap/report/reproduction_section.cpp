#include <fmt/format.h>

#include <utility>
#include <vector>

#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

/// What a step found, in one text: "0.3 ms. The link is another one. (step transfers)". A verdict that is not that of
/// the claim stands beside the step.
std::string text_of_finding(const ClaimView& claim, const FindingView& finding) {
  std::string text = finding.observed;
  if (!finding.why.empty()) text += fmt::format("{}{}", text.empty() ? "" : ". ", finding.why);
  const std::string verdict = finding.verdict == claim.verdict ? "" : ", " + to_string(finding.verdict);
  return fmt::format("{}{}(step {}{})", text, text.empty() ? "" : " ", finding.step, verdict);
}

/// A row for each finding, and one for a claim without findings.
Table claims_with_findings(const std::vector<ClaimView>& claims) {
  Table table{.title = "Claims of the paper",
              .columns = {{"where", Align::left},
                          {"claim", Align::left},
                          {"verdict", Align::left},
                          {"published", Align::left},
                          {"here", Align::left}}};
  for (const ClaimView& claim : claims) {
    const std::vector<Cell> head{claim.where, claim.id, verdict_text(claim.verdict), claim.text};
    for (const FindingView& finding : claim.findings) {
      table.rows.push_back(head);
      table.rows.back().emplace_back(text_of_finding(claim, finding));
    }
    if (claim.findings.empty()) table.add(head);
  }
  return table;
}

Table verdicts_on_claims(const std::vector<ClaimView>& claims) {
  Table table{.columns = {{"where", Align::left}, {"claim", Align::left}, {"verdict", Align::left}}};
  for (const ClaimView& claim : claims) table.add({claim.where, claim.id, verdict_text(claim.verdict)});
  return table;
}

}  // namespace

Section reproduction_section(const ReproductionView& view, const std::string& source) {
  const std::string name = fmt::format("{} on {}", view.paper, view.device_name);
  Section section{.title = "Reproduction of " + name, .source = source};
  section.headlines.push_back({.sentence = fmt::format("{}{}: {}.", name, view.simulated ? " (simulated)" : "",
                                                       count_of_verdicts(view.claims))});
  if (view.simulated)
    section.sentences.push_back("All figures are computed by a model of the device, and nothing was observed.");
  for (Plot plot : view.plots) {
    plot.note = "Lines are figures of this reproduction, and points are published ones.";
    section.figures.emplace_back(std::move(plot));
  }
  section.figures.emplace_back(claims_with_findings(view.claims));
  section.brief.emplace_back(verdicts_on_claims(view.claims));
  return section;
}

}  // namespace shiplap::document
