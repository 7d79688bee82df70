#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "shiplap/core/statistics.hpp"
#include "shiplap/measure/check.hpp"
#include "shiplap/measure/figures.hpp"
#include "shiplap/report/page/quantity.hpp"
#include "shiplap/report/page/rate_curves.hpp"
#include "shiplap/report/page/sections.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap::page {
namespace {

struct CheckedNode {
  std::string name;
  std::string gpu;  ///< peers have the same
  std::map<std::string, CheckedFigure> figures;
};

std::vector<CheckedNode> checked_nodes(std::span<const Profile> profiles) {
  std::vector<CheckedNode> nodes;
  for (const Profile& profile : profiles) {
    const std::string gpu = profile.gpus.empty() ? "" : profile.gpus.front().name;
    CheckedNode node{.name = profile.name, .gpu = gpu, .figures = {}};
    for (CheckedFigure& figure : check(profile))
      if (figure.measured_value > 0) node.figures.emplace(figure.what, std::move(figure));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

/// The median of a figure over all nodes that have it, by the name of the figure.
std::map<std::string, double> medians_of(const std::vector<CheckedNode>& nodes) {
  std::map<std::string, std::vector<double>> values;
  for (const CheckedNode& node : nodes)
    for (const auto& [what, figure] : node.figures) values[what].push_back(figure.measured_value);
  std::map<std::string, double> medians;
  for (const auto& [what, all] : values)
    if (all.size() > 1) medians[what] = median(all);
  return medians;
}

Plot beside_median(const std::vector<CheckedNode>& nodes, const std::map<std::string, double>& medians) {
  Plot plot{.title = "Each node beside the median of all",
            .note = "A point for each figure of a node; below 100 % is slower than its peers.",
            .x = {.label = "node", .unit = ""},
            .y = {.label = "of the median", .unit = "1"},
            .limits = {{.name = "median", .y = 1}}};
  for (const auto& [what, middle] : medians) {
    Series series{.name = what, .is_line = false};
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (const auto found = nodes[n].figures.find(what); found != nodes[n].figures.end())
        series.points.push_back({.x = static_cast<double>(n + 1),
                                 .y = found->second.measured_value / middle,
                                 .label = fmt::format("{}: {}", nodes[n].name, found->second.measured)});
    plot.series.push_back(std::move(series));
  }
  return plot;
}

struct Farthest {
  std::string node;
  std::string what;
  double ratio = 1;
};

/// The median of a figure over the other nodes with the same GPU; 0 without any.
double median_of_peers(const std::vector<CheckedNode>& nodes, const CheckedNode& node, const std::string& what) {
  std::vector<double> values;
  for (const CheckedNode& other : nodes)
    if (&other != &node && other.gpu == node.gpu)
      if (const auto found = other.figures.find(what); found != other.figures.end())
        values.push_back(found->second.measured_value);
  return values.empty() ? 0 : median(values);
}

Farthest slowest_of(const std::vector<CheckedNode>& nodes) {
  Farthest slowest;
  for (const CheckedNode& node : nodes)
    for (const auto& [what, figure] : node.figures)
      if (const double peers = median_of_peers(nodes, node, what);
          peers > 0 && figure.measured_value / peers < slowest.ratio)
        slowest = {node.name, what, figure.measured_value / peers};
  return slowest;
}

DataTable table_of(const std::vector<CheckedNode>& nodes, const std::map<std::string, double>& medians) {
  DataTable table{.title = "Figures of each node", .columns = {"number", "node"}};
  for (const auto& [what, middle] : medians) table.columns.push_back(what);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    std::vector<Cell> row{number_cell(static_cast<double>(n + 1), std::to_string(n + 1)), nodes[n].name};
    for (const auto& [what, middle] : medians) {
      const auto found = nodes[n].figures.find(what);
      if (found == nodes[n].figures.end()) {
        row.emplace_back("–");
        continue;
      }
      Cell cell = number_cell(found->second.measured_value, found->second.measured);
      cell.judgement = found->second.verdict == Verdict::bad   ? "bad"
                       : found->second.verdict == Verdict::low ? "warn"
                                                               : "";
      row.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Part nodes_part(std::span<const Profile> profiles) {
  Part part{.section = {.title = fmt::format("{} nodes side by side", profiles.size())}};
  const std::vector<CheckedNode> nodes = checked_nodes(profiles);
  const std::map<std::string, double> medians = medians_of(nodes);
  if (const Farthest slowest = slowest_of(nodes); !slowest.node.empty())
    part.summary.push_back(
        fmt::format("Among nodes with the same GPU, {} is farthest below the others: \"{}\" at {} of "
                    "their median.",
                    slowest.node, slowest.what, percent(slowest.ratio)));
  part.section.figures.emplace_back(beside_median(nodes, medians));
  part.section.figures.emplace_back(table_of(nodes, medians));
  return part;
}

}  // namespace shiplap::page
