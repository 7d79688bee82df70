#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "shiplap/core/printable.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

constexpr std::size_t longest_name_of_node = 60;
constexpr std::size_t longest_reason = 240;
constexpr std::size_t most_rows_of_nodes = 200;
constexpr std::size_t most_rows_of_gaps = 10;

/// "3 good, 1 sick" of the single GPUs, or of the sums of all GPUs of a node, with the number of all.
std::pair<std::size_t, std::string> states_of(const JudgedFleet& fleet, bool sums) {
  std::string states;
  std::size_t all = 0;
  for (const NodeState state :
       {NodeState::good, NodeState::sick, NodeState::suspect, NodeState::low, NodeState::busy, NodeState::unknown}) {
    const auto count = std::ranges::count_if(
        fleet.nodes, [&](const JudgedNode& node) { return node.state == state && node.is_sum() == sums; });
    all += static_cast<std::size_t>(count);
    if (count > 0 || state == NodeState::good)
      states += fmt::format("{}{} {}", states.empty() ? "" : ", ", count, to_string(state));
  }
  return {all, states};
}

/// "12 GPUs: 11 good, 1 sick."
Headline answer_about(const JudgedFleet& fleet) {
  const auto [gpus, states] = states_of(fleet, false);
  std::string sentence = fmt::format("{}: {}", counted(gpus, "GPU"), states);
  if (const auto [nodes, sums] = states_of(fleet, true); nodes > 0)
    sentence += fmt::format("; {} with all GPUs at once: {}", counted(nodes, "node"), sums);
  return {.sentence = sentence + ".",
          .judgement = fleet.count(NodeState::sick) > 0                                    ? Judgement::bad
                       : fleet.count(NodeState::suspect) + fleet.count(NodeState::low) > 0 ? Judgement::warn
                       : fleet.count(NodeState::good) > 0                                  ? Judgement::good
                                                                                           : Judgement::none,
          .numbers = {{fmt::format("{} of {}", fleet.count(NodeState::good), fleet.nodes.size()), "good"},
                      {std::to_string(fleet.count(NodeState::sick)), "sick"}}};
}

std::string what_was_found(const JudgedNode& node) {
  std::string text;
  for (const Outlier& outlier : node.outliers.empty() ? node.low : node.outliers)
    text += fmt::format("{}{} {}{}{}", text.empty() ? "" : "; ", outlier.what,
                        printable(outlier.measured, longest_name_of_node),
                        outlier.ratio > 0 ? fmt::format(", {} of its peers", percent(outlier.ratio)) : "",
                        outlier.of_earlier > 0 ? fmt::format(", {} of earlier", percent(outlier.of_earlier)) : "");
  if (text.empty()) text = fmt::format("{}", fmt::join(node.busy, "; "));
  return printable(text, longest_reason);
}

/// A row for each GPU that is not good, on one line, because programs look for it.
Table nodes_not_good(const JudgedFleet& fleet) {
  Table table{.columns = {{"node", Align::left},
                          {"GPU", Align::left},
                          {"state", Align::left},
                          {"checks", Align::right},
                          {"what", Align::left},
                          {"likely cause", Align::left},
                          {"confidence", Align::left}},
              .may_break_rows = false};
  std::size_t rows = 0;
  for (const JudgedNode& node : fleet.nodes) {
    if (node.state == NodeState::good || ++rows > most_rows_of_nodes) continue;
    table.add({printable(node.node, longest_name_of_node), printable(node.gpu, longest_name_of_node),
               Cell(to_string(node.state), node.state == NodeState::sick ? Judgement::bad : Judgement::warn),
               count_cell(node.results), what_was_found(node), printable(node.cause, longest_reason),
               node.outliers.empty() ? "" : to_string(node.confidence)});
  }
  if (rows > most_rows_of_nodes) table.notes.push_back(fmt::format("and {} more", rows - most_rows_of_nodes));
  return table;
}

/// A sentence for each kind of which at least half of the GPUs are low in the same way, which no peer shows.
std::vector<std::string> what_kinds_lack(const JudgedFleet& fleet) {
  std::map<std::string, std::size_t> all;
  std::map<std::pair<std::string, std::string>, std::size_t> low;  // by kind and cause
  for (const JudgedNode& node : fleet.nodes) {
    ++all[node.kind];
    if (node.state == NodeState::low) ++low[{node.kind, node.cause}];
  }
  std::vector<std::string> sentences;
  for (const auto& [key, count] : low)
    if (const std::size_t of_kind = all[key.first]; count > 1 && 2 * count >= of_kind)
      sentences.push_back(fmt::format("{} of {} GPUs of {} are low alike, so that no peer shows it: {}.", count,
                                      of_kind, printable(key.first, longest_name_of_node),
                                      printable(key.second, longest_reason)));
  return sentences;
}

/// A sentence about the GPUs that are far above their peers; "" without any.
std::string who_is_above(const JudgedFleet& fleet) {
  std::string text;
  std::size_t named = 0;
  std::size_t count = 0;
  for (const JudgedNode& node : fleet.nodes) {
    if (node.above.empty() || ++count > most_rows_of_gaps) continue;
    const Outlier& first = node.above.front();
    text += fmt::format("{}{} {} ({} {}, {} of its peers)", named++ == 0 ? "" : "; ",
                        printable(node.node, longest_name_of_node), printable(node.gpu, longest_name_of_node),
                        first.what, printable(first.measured, longest_name_of_node), percent(first.ratio));
  }
  if (count > most_rows_of_gaps) text += fmt::format("; and {} more", count - most_rows_of_gaps);
  return text.empty() ? "" : fmt::format("Far above their peers, which may lack something: {}.", text);
}

/// What is not among the results, a line for each.
Table gaps_of_fleet(const char* what, const std::vector<std::string>& names) {
  Table table{.columns = {{fmt::format("{} ({})", what, names.size()), Align::left}}, .may_break_rows = false};
  for (std::size_t i = 0; i < std::min(names.size(), most_rows_of_gaps); ++i) table.add({names[i]});
  if (names.size() > most_rows_of_gaps)
    table.notes.push_back(fmt::format("and {} more", names.size() - most_rows_of_gaps));
  return table;
}

std::string value_of_peers(double value, const std::string& unit) {
  if (unit == "B/s") return to_string(Bandwidth{value});
  if (unit == "flop/s") return fmt::format("{:.4g} Tflop/s", value * 1e-12);
  return fmt::format("{:.4g} {}", value, unit);
}

Table figures_of_peers(const JudgedFleet& fleet) {
  const bool has_earlier = std::ranges::any_of(fleet.peers, [](const PeerFigure& f) { return f.of_earlier > 0; });
  Table table{.title = "What GPUs of one kind have",
              .columns = {{"kind", Align::left},
                          {"figure", Align::left},
                          {"GPUs", Align::right},
                          {"median", Align::right},
                          {"of limit", Align::right, "1"},
                          {"spread", Align::right, "1"},
                          {"outlier below", Align::right}}};
  if (has_earlier) table.columns.push_back({"over earlier", Align::right, "1"});
  const auto ratio = [](double value) { return value > 0 ? percent_cell(value) : Cell("–"); };
  for (const PeerFigure& figure : fleet.peers) {
    std::vector<Cell> row{
        printable(figure.kind, longest_name_of_node),
        figure.what,
        count_cell(figure.peers),
        Cell(value_of_peers(figure.median, figure.unit), figure.median),
        ratio(figure.of_limit),
        figure.median > 0 ? percent_cell(figure.spread / figure.median) : Cell("–"),
        figure.lowest > 0 ? Cell(value_of_peers(figure.lowest, figure.unit), figure.lowest) : Cell("too few peers")};
    if (has_earlier) row.push_back(ratio(figure.of_earlier));
    table.add(std::move(row));
  }
  return table;
}

}  // namespace

Section fleet_section(const JudgedFleet& fleet, const std::string& source) {
  Section section{.title = "Check of a fleet", .source = source};
  section.headlines.push_back(answer_about(fleet));
  if (fleet.count(NodeState::suspect) > 0)
    section.sentences.emplace_back(
        "A suspect is an outlier in its only check. Check it again: it is sick when it is an outlier each time.");
  for (std::string& sentence : what_kinds_lack(fleet)) section.sentences.push_back(std::move(sentence));
  if (std::string above = who_is_above(fleet); !above.empty()) section.sentences.push_back(std::move(above));
  section.figures.emplace_back(nodes_not_good(fleet));
  section.figures.emplace_back(gaps_of_fleet("no result", fleet.missing));
  section.figures.emplace_back(gaps_of_fleet("not done", fleet.failed));
  section.details.emplace_back(figures_of_peers(fleet));
  return section;
}

}  // namespace shiplap::document
