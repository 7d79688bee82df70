#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "shiplap/document/figure_json.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

/// The verdict on a claim, or that none of its steps was run.
std::string verdict_of(const JsonReader& claim) {
  const auto verdict = claim.find("verdict");
  return verdict ? verdict->string() : "not run yet";
}

/// "26 claims: holds 4, does not hold on this hardware 22", in the order in which verdicts occur.
std::string count_of_verdicts(const JsonReader& claims) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const std::string verdict = verdict_of(claims.at(i));
    const auto found = std::ranges::find(counts, verdict, &std::pair<std::string, std::size_t>::first);
    if (found == counts.end())
      counts.emplace_back(verdict, 1);
    else
      ++found->second;
  }
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : counts) parts.push_back(fmt::format("{} {}", verdict, count));
  return fmt::format("{} claims: {}", claims.size(), fmt::join(parts, ", "));
}

/// A row for each finding, and one for a claim without findings.
Table claims_table(const JsonReader& claims) {
  Table table{
      .title = "Claims of the paper",
      .columns = {{"where"}, {"claim"}, {"verdict"}, {"published"}, {"step"}, {"its finding"}, {"here"}, {"why"}}};
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const JsonReader claim = claims.at(i);
    const std::vector<Cell> head{claim.at("where").string(), claim.at("id").string(), verdict_of(claim),
                                 claim.at("text").string()};
    const JsonReader findings = claim.at("findings");
    for (std::size_t f = 0; f < findings.size(); ++f) {
      std::vector<Cell>& row = table.rows.emplace_back(head);
      for (const char* key : {"step", "verdict", "observed", "why"}) row.emplace_back(findings.at(f).at(key).string());
    }
    if (findings.size() > 0) continue;
    std::vector<Cell>& row = table.rows.emplace_back(head);
    row.insert(row.end(), 4, Cell(""));
  }
  return table;
}

}  // namespace

Section reproduction_section(const JsonReader& json, const std::string& source) {
  const std::string name = fmt::format("{} on {}", json.at("paper").string(), json.at("device_name").string());
  const bool is_simulated = json.at("simulated").boolean();
  Section section{.title = "Reproduction of " + name, .source = source};
  section.headlines.push_back({.sentence = fmt::format("{}{}: {}.", name, is_simulated ? " (simulated)" : "",
                                                       count_of_verdicts(json.at("claims")))});
  if (is_simulated)
    section.sentences.push_back("All figures are computed by a model of the device, and nothing was observed.");
  const JsonReader plots = json.at("plots");
  if (plots.size() > 0)
    section.sentences.push_back("Lines are figures of this reproduction, and points are published ones.");
  for (std::size_t i = 0; i < plots.size(); ++i) section.figures.emplace_back(plot_from_json(plots.at(i)));
  section.figures.emplace_back(claims_table(json.at("claims")));
  return section;
}

}  // namespace shiplap::document
