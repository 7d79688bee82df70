#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/document/table.hpp"
#include "shiplap/fleet/judge.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

std::vector<NodeResult> results_of(std::span<const Profile> profiles) {
  std::vector<NodeResult> results;
  for (const Profile& profile : profiles)
    results.push_back({.node = profile.origin == Origin::measured
                                   ? profile.name
                                   : fmt::format("{} ({})", profile.name, to_string(profile.origin)),
                       .gpu = "",
                       .kind = profile.gpus.empty() ? "" : profile.gpus.front().name,
                       .figures = check(profile)});
  return results;
}

/// A measured figure of a node beside the median of the nodes with the same GPU.
struct BesidePeers {
  std::size_t node = 0;  ///< index of the result
  const CheckedFigure* figure = nullptr;
  double ratio = 1;  ///< over the median
};

/// All figures that at least two nodes with the same GPU have.
std::vector<BesidePeers> beside_peers(const std::vector<NodeResult>& results) {
  const JudgedFleet fleet = judge(results);
  std::vector<BesidePeers> all;
  for (std::size_t n = 0; n < results.size(); ++n)
    for (const CheckedFigure& figure : results[n].figures)
      for (const PeerFigure& peers : fleet.peers)
        if (peers.kind == results[n].kind && peers.what == figure.what && peers.peers > 1 && figure.measured_value > 0)
          all.push_back({.node = n, .figure = &figure, .ratio = figure.measured_value / peers.median});
  return all;
}

/// Directions have their colours in every picture.
std::string thing_of(std::string_view figure) {
  return figure == "copies to the GPU" ? "h2d" : figure == "copies from the GPU" ? "d2h" : "";
}

Plot plot_of(const std::vector<NodeResult>& results, const std::vector<BesidePeers>& all) {
  Plot plot{.title = "Each node beside the median of nodes with the same GPU",
            .note = "A point for each figure of a node; below 100 % is slower than its peers.",
            .x = {.label = "node", .unit = ""},
            .y = {.label = "of the median", .unit = "1"},
            .limits = {{.name = "median", .y = 1}}};
  for (const BesidePeers& one : all) {
    auto series = std::ranges::find(plot.series, one.figure->what, &Series::name);
    if (series == plot.series.end())
      series = plot.series.insert(
          series,
          Series{.name = one.figure->what, .points = {}, .is_line = false, .thing = thing_of(one.figure->what)});
    series->points.push_back({.x = static_cast<double>(one.node + 1),
                              .y = one.ratio,
                              .label = fmt::format("{}: {}", results[one.node].node, one.figure->measured)});
  }
  return plot;
}

/// A column for each figure of the first node; nodes are checked for the same figures.
Table table_of(const std::vector<NodeResult>& results) {
  Table table{.title = "Figures of each node", .columns = {{"number"}, {"node"}, {"GPU"}}};
  for (const CheckedFigure& figure : results.front().figures) table.columns.push_back({{figure.what}});
  for (std::size_t n = 0; n < results.size(); ++n) {
    std::vector<Cell> row{count_cell(n + 1), results[n].node, results[n].kind};
    for (const CheckedFigure& figure : results.front().figures) {
      const auto own = std::ranges::find(results[n].figures, figure.what, &CheckedFigure::what);
      if (own == results[n].figures.end() || own->measured_value <= 0) {
        row.emplace_back("–");
        continue;
      }
      Cell cell{own->measured, own->measured_value};
      if (own->verdict != Verdict::good) cell.judgement = judgement_of(own->verdict);
      row.push_back(std::move(cell));
    }
    table.add(std::move(row));
  }
  return table;
}

}  // namespace

Section nodes_section(std::span<const Profile> profiles) {
  Section section{.title = fmt::format("{} nodes side by side", profiles.size())};
  const std::vector<NodeResult> results = results_of(profiles);
  const std::vector<BesidePeers> all = beside_peers(results);
  if (!all.empty()) {
    const BesidePeers slowest = std::ranges::min(all, {}, &BesidePeers::ratio);
    if (slowest.ratio < 1)
      section.headlines.push_back(
          {.sentence =
               fmt::format("Among nodes with the same GPU, {} is farthest below the median: \"{}\" at {} of it.",
                           results[slowest.node].node, slowest.figure->what, percent(slowest.ratio)),
           .judgement =
               slowest.figure->verdict == Verdict::good ? Judgement::none : judgement_of(slowest.figure->verdict),
           .numbers = {{percent(slowest.ratio),
                        fmt::format("of the median: {}, {}", results[slowest.node].node, slowest.figure->what)}}});
  }
  section.figures.emplace_back(table_of(results));
  if (!all.empty()) section.figures.emplace_back(plot_of(results, all));
  return section;
}

}  // namespace shiplap::document
