#include "shiplap/report/fleet_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "shiplap/core/printable.hpp"

namespace shiplap {
namespace {

constexpr std::size_t longest_name = 60;
constexpr std::size_t most_rows = 200;

std::string what_of(const JudgedNode& node) {
  std::string text;
  for (const Outlier& outlier : node.outliers)
    text +=
        fmt::format("{}{} {}{}{}", text.empty() ? "" : "; ", outlier.what, printable(outlier.measured, longest_name),
                    outlier.ratio > 0 ? fmt::format(", {} of its peers", percent(outlier.ratio)) : "",
                    outlier.of_earlier > 0 ? fmt::format(", {} of earlier", percent(outlier.of_earlier)) : "");
  if (text.empty()) text = fmt::format("{}", fmt::join(node.busy, "; "));
  return printable(text, 4 * longest_name);
}

std::string value_text(double value, const std::string& unit) {
  if (unit == "B/s") return to_string(Bandwidth{value});
  if (unit == "flop/s") return fmt::format("{:.4g} Tflop/s", value * 1e-12);
  return fmt::format("{:.4g} {}", value, unit);
}

}  // namespace

std::string fleet_summary(const JudgedFleet& fleet) {
  const auto summary = [&](bool sums) {
    std::string states;
    std::size_t all = 0;
    for (const NodeState state :
         {NodeState::good, NodeState::sick, NodeState::suspect, NodeState::busy, NodeState::unknown}) {
      const auto count = std::ranges::count_if(
          fleet.nodes, [&](const JudgedNode& node) { return node.state == state && node.is_sum == sums; });
      all += static_cast<std::size_t>(count);
      if (count > 0 || state == NodeState::good)
        states += fmt::format("{}{} {}", states.empty() ? "" : ", ", count, to_string(state));
    }
    return std::pair(all, states);
  };
  const auto [gpus, states] = summary(false);
  std::string text = fmt::format("{} {}: {}", gpus, gpus == 1 ? "GPU" : "GPUs", states);
  const auto [nodes, sums] = summary(true);
  if (nodes > 0)
    text += fmt::format("; {} with all GPUs at once: {}", nodes == 1 ? "1 node" : fmt::format("{} nodes", nodes), sums);
  return text;
}

std::string fleet_report(const JudgedFleet& fleet, const TextStyle& style) {
  std::string out = fleet_summary(fleet) + "\n\n";
  Table nodes{.columns = {{"node", Align::left},
                          {"GPU", Align::left},
                          {"state", Align::left},
                          {"checks", Align::right},
                          {"what", Align::left},
                          {"likely cause", Align::left},
                          {"confidence", Align::left}},
              .may_break_rows = false};
  std::size_t rows = 0;
  for (const JudgedNode& node : fleet.nodes) {
    if (node.state == NodeState::good || ++rows > most_rows) continue;
    const std::string state = to_string(node.state);
    nodes.add({printable(node.node, longest_name), printable(node.gpu, longest_name),
               node.state == NodeState::sick ? bold(state, style) : state, std::to_string(node.results), what_of(node),
               printable(node.cause, 4 * longest_name), node.outliers.empty() ? "" : to_string(node.confidence)});
  }
  if (!nodes.empty()) out += nodes.text(style) + "\n";
  if (rows > most_rows) out += fmt::format("and {} more\n\n", rows - most_rows);
  if (fleet.count(NodeState::suspect) > 0)
    out +=
        wrap("A suspect is an outlier in its only check. Check it again: it is sick when it is an outlier each time.",
             style.width) +
        "\n\n";
  const bool has_earlier = std::ranges::any_of(fleet.peers, [](const PeerFigure& f) { return f.of_earlier > 0; });
  std::vector<Column> columns{{"kind", Align::left},          {"figure", Align::left},    {"GPUs", Align::right},
                              {"median", Align::right},       {"of limit", Align::right}, {"spread", Align::right},
                              {"outlier below", Align::right}};
  if (has_earlier) columns.push_back({"over earlier", Align::right});
  Table peers{.columns = columns};
  for (const PeerFigure& figure : fleet.peers) {
    std::vector<Cell> row{printable(figure.kind, longest_name),
                          figure.what,
                          std::to_string(figure.peers),
                          value_text(figure.median, figure.unit),
                          figure.of_limit > 0 ? percent(figure.of_limit) : "–",
                          figure.median > 0 ? percent(figure.spread / figure.median) : "–",
                          figure.lowest > 0 ? value_text(figure.lowest, figure.unit) : "too few peers"};
    if (has_earlier) row.push_back(figure.of_earlier > 0 ? percent(figure.of_earlier) : "–");
    peers.add(row);
  }
  if (!peers.empty()) out += peers.text(style);
  return out;
}

}  // namespace shiplap
