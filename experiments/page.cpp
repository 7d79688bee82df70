#include "experiments/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "experiments/curves.hpp"

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
  Table table{.columns = std::move(columns)};
  for (std::size_t r = 0; r < std::min(most_rows, figure.rows.size()); ++r) {
    std::vector<shiplap::Cell> cells;
    for (const Cell& cell : figure.rows[r]) cells.emplace_back(shown(cell));
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

std::string simulated_note(const Reproduction& r) {
  return fmt::format("Simulated: all figures are computed by the model of {}, and nothing was observed.", r.device);
}

/// The verdict on a claim, or that none of its steps was run.
std::string verdict_text(const Finding* finding) {
  return finding == nullptr ? "not run yet" : to_string(finding->verdict);
}

/// "6 claims: holds 4, contradicts the model 2". Verdicts that no claim has are left out.
std::string count_of_verdicts(const Experiment& experiment, const Reproduction& r) {
  std::map<std::string, std::size_t> counts;
  for (const Claim& claim : experiment.claims) ++counts[verdict_text(finding_of(experiment, r, claim.id))];
  std::vector<std::string> texts;
  for (const Verdict verdict : verdicts) texts.push_back(to_string(verdict));
  texts.push_back(verdict_text(nullptr));
  std::vector<std::string> parts;
  for (const std::string& text : texts)
    if (const auto count = counts.find(text); count != counts.end())
      parts.push_back(fmt::format("{} {}", text, count->second));
  return fmt::format("{} claims: {}", experiment.claims.size(), fmt::join(parts, ", "));
}

/// A claim as a list: what is published, and each finding with its step.
std::string claim_list(const Experiment& experiment, const Reproduction& r, const Claim& claim) {
  std::string text = fmt::format("- **{}** (`{}`): {}\n  - published: {}\n", claim.where, claim.id,
                                 verdict_text(finding_of(experiment, r, claim.id)), claim.text);
  for (const StepFinding& found : findings_of(experiment, r, claim.id)) {
    text += fmt::format("  - step `{}`, {}", found.step, to_string(found.finding->verdict));
    if (!found.finding->observed.empty()) text += ": " + found.finding->observed;
    if (!found.finding->why.empty()) text += ". " + found.finding->why;
    text += "\n";
  }
  return text;
}

/// The claims as a table with short cells, and below it in full.
std::string claims_section(const Experiment& experiment, const Reproduction& r) {
  Table table{.columns = {{"where"}, {"claim", Align::left}, {"verdict"}}};
  std::string lists;
  for (const Claim& claim : experiment.claims) {
    table.add(
        {std::string(claim.where), fmt::format("`{}`", claim.id), verdict_text(finding_of(experiment, r, claim.id))});
    lists += claim_list(experiment, r, claim);
  }
  return "## Claims\n\n" + table.markdown() +
         "\nThe verdict on a claim is the worst of its findings. An observed one counts before a simulated one, and "
         "one "
         "that could not be checked counts only where none could.\n\n" +
         lists + "\n";
}

}  // namespace

std::string page(const Experiment& experiment, const Reproduction& r, std::size_t most_rows) {
  std::string text = fmt::format("# {}\n\n{}.\n\n", experiment.title, count_of_verdicts(experiment, r));
  if (r.simulated) text += simulated_note(r) + "\n\n";
  text += fmt::format("{}\n\n", experiment.citation);
  text += fmt::format("Reproduced with `shiplap reproduce {}{}` on {} ({}{}), profile {} (`{}`).\n\n", experiment.name,
                      r.quick ? " --quick" : "", r.device_name, r.device, r.simulated ? ", simulated" : "", r.profile,
                      r.profile_hash);
  text += claims_section(experiment, r);
  if (!experiment.faults.empty()) {
    text += "## What in the paper is wrong, or says too little\n\n";
    for (const std::string_view fault : experiment.faults) text += fmt::format("- {}\n", fault);
    text += "\n";
  }
  text += "## Tables and figures\n\n";
  if (!plots_of(experiment, r).empty())
    text += fmt::format("As curves: `shiplap report {0}.json -o {0}.html`.\n\n", experiment.name);
  for (const Step& step : experiment.steps) {
    const auto done = r.steps.find(step.id);
    if (done == r.steps.end()) continue;
    for (const Figure& figure : done->second.result.figures) text += markdown(figure, most_rows);
  }
  text += "## Conditions\n\n";
  for (const auto& [name, value] : r.conditions) text += fmt::format("- {}: {}\n", name, value);
  return text;
}

std::string claims_report(const Experiment& experiment, const Reproduction& r, const TextStyle& style) {
  std::string text;
  if (r.simulated) text += wrap(simulated_note(r), style.width) + "\n\n";
  text += bold(std::string(experiment.title), style) + "\n";
  text += wrap(count_of_verdicts(experiment, r), style.width, "  ") + "\n\n";
  for (const Claim& claim : experiment.claims) {
    const Finding* finding = finding_of(experiment, r, claim.id);
    text += wrap(fmt::format("{}: {}", claim.where, claim.text), style.width, "  ") + "\n";
    std::string found = verdict_text(finding);
    if (finding != nullptr && !finding->observed.empty()) found += ": " + finding->observed;
    if (finding != nullptr && !finding->why.empty()) found += ". " + finding->why;
    text += "  " + wrap(found, style.width - 2, "  ") + "\n";
  }
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
