#include "experiments/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

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

/// A claim as a list: what is published, and each finding with its step.
std::string claim_list(const ClaimView& claim) {
  std::string text = fmt::format("- **{}** (`{}`): {}\n  - published: {}\n", claim.where, claim.id,
                                 verdict_text(claim.verdict), claim.text);
  for (const FindingView& found : claim.findings) {
    text += fmt::format("  - step `{}`, {}", found.step, to_string(found.verdict));
    if (!found.observed.empty()) text += ": " + found.observed;
    if (!found.why.empty()) text += ". " + found.why;
    text += "\n";
  }
  return text;
}

/// The claims as a table with short cells, and below it in full.
std::string claims_section(const std::vector<ClaimView>& claims) {
  Table table{.columns = {{"where"}, {"claim", Align::left}, {"verdict"}}};
  std::string lists;
  for (const ClaimView& claim : claims) {
    table.add({claim.where, fmt::format("`{}`", claim.id), verdict_text(claim.verdict)});
    lists += claim_list(claim);
  }
  return "## Claims\n\n" + table.markdown() +
         "\nThe verdict on a claim is the worst of its findings. An observed one counts before a simulated one, and "
         "one that could not be checked counts only where none could.\n\n" +
         lists + "\n";
}

}  // namespace

std::string page(const Experiment& experiment, const ReproductionView& r, std::size_t most_rows) {
  std::string text = fmt::format("# {}\n\n{}.\n\n", experiment.title, count_of_verdicts(r.claims));
  if (r.simulated)
    text +=
        fmt::format("Simulated: all figures are computed by the model of {}, and nothing was observed.\n\n", r.device);
  text += fmt::format("{}\n\n", experiment.citation);
  text += fmt::format("Reproduced with `shiplap reproduce {}{}` on {} ({}{}), profile {} (`{}`).\n\n", experiment.name,
                      r.quick ? " --quick" : "", r.device_name, r.device, r.simulated ? ", simulated" : "", r.profile,
                      r.profile_hash);
  text += claims_section(r.claims);
  if (!experiment.faults.empty()) {
    text += "## What in the paper is wrong, or says too little\n\n";
    for (const std::string_view fault : experiment.faults) text += fmt::format("- {}\n", fault);
    text += "\n";
  }
  text += "## Tables and figures\n\n";
  if (!r.plots.empty()) text += fmt::format("As curves: `shiplap report {0}.json -o {0}.html`.\n\n", experiment.name);
  for (const StepView& step : r.steps)
    for (const Figure& figure : step.figures) text += markdown(figure, most_rows);
  text += "## Conditions\n\n";
  for (const auto& [name, value] : r.conditions) text += fmt::format("- {}: {}\n", name, value);
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
