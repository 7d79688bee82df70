// Shows the values of the room `cluster`, which must not include the report.
#include <fmt/format.h>

#include "shiplap/cluster/share_report.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap {
namespace document {
namespace {

std::string nodes_of_scale(std::uint32_t nodes) { return fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s"); }

std::string network_of_scaling(const Scaling& scaling) {
  if (!scaling.network) return "No halos have to be exchanged, so the network does not matter.";
  return fmt::format(
      "The network's figures are {}: {} and a latency of {}. A node receives up to {} of halos before a run. One "
      "latency counts for an exchange, because its messages are in flight together.",
      scaling.network->origin, to_string(scaling.network->bandwidth), to_string(scaling.network->latency),
      to_string(scaling.largest_halo));
}

Table table_of_scaling(const Scaling& scaling) {
  Table table{.columns = {{"nodes", Align::right},
                          {"items", Align::right},
                          {"node", Align::right, "s"},
                          {"exchange", Align::right, "s"},
                          {"total", Align::right, "s"},
                          {"speed-up", Align::right},
                          {"efficiency", Align::right, "1"},
                          {"what limits", Align::left}}};
  const auto time = [](Seconds seconds) { return time_cell(Interval<Seconds>::exact(seconds)); };
  for (const ScaledRun& run : scaling.runs)
    table.add({count_cell(run.nodes), count_cell(run.items), time(run.node),
               run.exchange > Seconds{0} ? time(run.exchange) : Cell("–"), time(run.total()),
               Cell(fmt::format("{:.2f}", run.speed_up), run.speed_up), percent_cell(run.efficiency), run.limit});
  return table;
}

Plot speed_up_over_nodes(const Scaling& scaling) {
  Plot plot{.title = "Speed-up over the number of nodes",
            .x = {.label = "nodes", .unit = "", .logarithmic = true},
            .y = {.label = "speed-up", .unit = "", .logarithmic = true},
            .series = {{.name = "predicted"}},
            .has_diagonal = true};
  for (const ScaledRun& run : scaling.runs)
    plot.series.front().points.push_back({.x = static_cast<double>(run.nodes), .y = run.speed_up, .label = run.limit});
  return plot;
}

}  // namespace

Section scaling_section(const Scaling& scaling, const std::string& source) {
  Section section{.title = fmt::format("Strong scaling of {} on nodes like {}", scaling.job, scaling.profile),
                  .source = source};
  if (!scaling.runs.empty()) {
    const ScaledRun& most = scaling.runs.back();
    section.headlines.push_back(
        {.sentence =
             fmt::format("{}: {} predicted, {:.2f} times as fast as one ({} efficient).", nodes_of_scale(most.nodes),
                         to_string(most.total()), most.speed_up, percent(most.efficiency)),
         .numbers = {{to_string(most.total()), "predicted on " + nodes_of_scale(most.nodes)},
                     {fmt::format("{:.2f}", most.speed_up), "times as fast as one"}}});
  }
  section.sentences.push_back(
      fmt::format("{} on nodes like {}: strong scaling, by simulation of a node.", scaling.job, scaling.profile));
  for (const RefusedScale& scale : scaling.refused)
    section.sentences.push_back(fmt::format("{}: {}", nodes_of_scale(scale.nodes), scale.reason));
  section.sentences.push_back(network_of_scaling(scaling));
  section.sentences.emplace_back(
      "Items are those of the slowest node. An exchange is over before a run begins. Nothing else that nodes share is "
      "in these times, such as a file system.");
  section.figures.emplace_back(table_of_scaling(scaling));
  section.figures.emplace_back(speed_up_over_nodes(scaling));
  return section;
}

}  // namespace document

std::string Scaling::to_string() const { return document::text(document::scaling_section(*this)); }

std::string ShareReport::to_string() const {
  const TextStyle style;
  const auto works = [&](std::size_t r) { return items[r].count > 0; };
  std::size_t simulated = 0;
  std::size_t working = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    working += works(r) ? 1 : 0;
    simulated += works(r) && ranks[r].simulated ? 1 : 0;
  }
  Table table{.columns = {{"rank", Align::right},
                          {"device", Align::left},
                          {"items", Align::right},
                          {"predicted", Align::right},
                          {simulated == working ? "simulated" : "observed", Align::right}}};
  for (std::size_t r = 0; r < ranks.size(); ++r)
    table.add({std::to_string(r), ranks[r].device, std::to_string(items[r].count),
               works(r) ? shiplap::to_string(ranks[r].predicted) : "–",
               works(r) ? shiplap::to_string(ranks[r].observed) : "–"});
  constexpr double little = 0.001;
  std::string text = fmt::format("Rank {} is the slowest with {}, {} more than the mean of the ranks. ", slowest,
                                 shiplap::to_string(longest()), shiplap::to_string(cost_of_slowest()));
  text += longest() - with_best_shares > longest() * little
              ? fmt::format("With the best shares by these times, the slowest rank would take {}.",
                            shiplap::to_string(with_best_shares))
              : std::string("No other shares would be faster by these times.");
  if (simulated > 0)
    text += fmt::format(" The times of {} virtual device{} are simulated, and nothing was observed there.", simulated,
                        simulated == 1 ? "" : "s");
  return table.text(style) + "\n" + wrap(text, style.width) + "\n";
}

}  // namespace shiplap
