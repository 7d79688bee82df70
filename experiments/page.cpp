#include "experiments/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "shiplap/report/table.hpp"

namespace shiplap::experiments {
namespace {

std::string with_unit(const Column& column) {
  return column.unit.empty() ? column.name : fmt::format("{} ({})", column.name, column.unit);
}

std::string shown(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{:.4g}", *number);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "–";
}

std::string markdown(const Figure& figure, std::size_t most_rows) {
  std::vector<shiplap::Column> columns;
  for (const Column& column : figure.columns) columns.push_back({with_unit(column)});
  Table table(std::move(columns));
  for (std::size_t r = 0; r < std::min(most_rows, figure.rows.size()); ++r) {
    std::vector<std::string> cells;
    for (const Cell& cell : figure.rows[r]) cells.push_back(shown(cell));
    table.add(std::move(cells));
  }
  std::string text = fmt::format("### {}: {}\n\n", figure.where, figure.title);
  if (!figure.note.empty()) text += figure.note + "\n\n";
  if (figure.rows.empty()) return text + "No rows.\n\n";
  text += table.markdown() + "\n";
  if (figure.rows.size() > most_rows)
    text += fmt::format("The first {} of {} rows; all are in `{}.csv`.\n\n", most_rows, figure.rows.size(), figure.id);
  return text;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// The text under the table of claims: further findings of claims with several findings.
std::string several_findings(const Experiment& experiment, const Reproduction& r) {
  std::string text;
  for (const Claim& claim : experiment.claims) {
    const std::vector<StepFinding> all = findings_of(experiment, r, claim.id);
    if (all.size() < 2) continue;
    text += fmt::format("- {} ({}):", claim.where, claim.id);
    for (const StepFinding& found : all) {
      text += fmt::format("\n  - {}, {}", found.step, to_string(found.finding->verdict));
      if (!found.finding->observed.empty()) text += ": " + found.finding->observed;
      if (!found.finding->why.empty()) text += ". " + found.finding->why;
    }
    text += "\n";
  }
  if (text.empty()) return text;
  return "Of these claims there are several findings, each with its step. The verdict above is the worst of them; one "
         "that could not be checked counts only where none could.\n\n" +
         text + "\n";
}

/// Calls `add` with claim, published value, finding and verdict of each claim.
template <class Add>
void for_each_claim(const Experiment& experiment, const Reproduction& r, Add add) {
  for (const Claim& claim : experiment.claims) {
    const Finding* finding = finding_of(experiment, r, claim.id);
    add(claim, finding == nullptr ? std::string("not run yet") : to_string(finding->verdict), finding);
  }
}

}  // namespace

std::string page(const Experiment& experiment, const Reproduction& r, std::size_t most_rows) {
  std::string text = fmt::format("# {}\n\n{}\n\n", experiment.title, experiment.citation);
  text += fmt::format("Reproduced with `shiplap reproduce {}{}` on {} ({}{}), profile {} (`{}`).\n\n", experiment.name,
                      r.quick ? " --quick" : "", r.device_name, r.device, r.simulated ? ", simulated" : "", r.profile,
                      r.profile_hash);
  text += "## Claims\n\n";
  Table claims({{"where"}, {"published"}, {"here", Align::left}, {"verdict"}, {"why", Align::left}});
  for_each_claim(experiment, r, [&](const Claim& claim, const std::string& verdict, const Finding* finding) {
    claims.add({std::string(claim.where), std::string(claim.text), finding == nullptr ? "" : finding->observed, verdict,
                finding == nullptr ? "" : finding->why});
  });
  text += claims.markdown() + "\n" + several_findings(experiment, r);
  if (!experiment.faults.empty()) {
    text += "## What in the paper is wrong, or says too little\n\n";
    for (const std::string_view fault : experiment.faults) text += fmt::format("- {}\n", fault);
    text += "\n";
  }
  text += "## Tables and figures\n\n";
  for (const Step& step : experiment.steps) {
    const auto done = r.steps.find(step.id);
    if (done == r.steps.end()) continue;
    for (const Figure& figure : done->second.result.figures) text += markdown(figure, most_rows);
  }
  text += "## Conditions\n\n";
  for (const auto& [name, value] : r.conditions) text += fmt::format("- {}: {}\n", name, value);
  return text;
}

std::string claims_report(const Experiment& experiment, const Reproduction& r, std::size_t width) {
  std::string text;
  for_each_claim(experiment, r, [&](const Claim& claim, const std::string& verdict, const Finding* finding) {
    text += wrap(fmt::format("{}: {}", claim.where, claim.text), width, "  ") + "\n";
    std::string found = verdict;
    if (finding != nullptr && !finding->observed.empty()) found += ": " + finding->observed;
    if (finding != nullptr && !finding->why.empty()) found += ". " + finding->why;
    text += "  " + wrap(found, width - 2, "  ") + "\n";
  });
  return text;
}

std::string csv(const Figure& figure) {
  std::string text;
  const auto add = [&](std::size_t column, const std::string& cell) {
    text += (column == 0 ? "" : ",") + quoted(cell);
  };
  for (std::size_t c = 0; c < figure.columns.size(); ++c) add(c, with_unit(figure.columns[c]));
  text += "\n";
  for (const auto& row : figure.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto* number = std::get_if<double>(&row[c]);
      const auto* words = std::get_if<std::string>(&row[c]);
      add(c, number != nullptr ? fmt::format("{}", *number) : words != nullptr ? *words : "");
    }
    text += "\n";
  }
  return text;
}

}  // namespace shiplap::experiments
