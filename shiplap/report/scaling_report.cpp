// Defines the texts of the room `cluster`, which must not include the report.
#include <fmt/format.h>

#include "shiplap/cluster/scaling.hpp"
#include "shiplap/cluster/share_report.hpp"
#include "shiplap/document/table.hpp"

namespace shiplap {
namespace {

std::string network_line(const Scaling& scaling) {
  if (!scaling.network) return "No halos have to be exchanged, so the network does not matter.";
  return fmt::format(
      "The network's figures are {}: {} and a latency of {}. A node receives up to {} of halos before a run. One "
      "latency counts for an exchange, because its messages are in flight together.",
      scaling.network->origin, to_string(scaling.network->bandwidth), to_string(scaling.network->latency),
      to_string(scaling.largest_halo));
}

}  // namespace

std::string Scaling::to_string() const {
  const TextStyle style;
  Table table{.columns = {{"nodes", Align::right},
                          {"items", Align::right},
                          {"node", Align::right},
                          {"exchange", Align::right},
                          {"total", Align::right},
                          {"speed-up", Align::right},
                          {"efficiency", Align::right},
                          {"what limits", Align::left}}};
  for (const ScaledRun& run : runs)
    table.add({std::to_string(run.nodes), std::to_string(run.items), shiplap::to_string(run.node),
               run.exchange > Seconds{0} ? shiplap::to_string(run.exchange) : "–", shiplap::to_string(run.total()),
               fmt::format("{:.2f}", run.speed_up), percent(run.efficiency), run.limit});
  std::string out;
  if (!runs.empty())
    out += wrap(fmt::format("{} node{}: {} predicted, {:.2f} times as fast as one ({} efficient).", runs.back().nodes,
                            runs.back().nodes == 1 ? "" : "s", shiplap::to_string(runs.back().total()),
                            runs.back().speed_up, percent(runs.back().efficiency)),
                style.width) +
           "\n";
  out += wrap(fmt::format("{} on nodes like {}: strong scaling, by simulation of a node.", job, profile), style.width) +
         "\n\n" + table.text(style) + "\n";
  for (const RefusedScale& scale : refused)
    out +=
        wrap(fmt::format("{} node{}: {}", scale.nodes, scale.nodes == 1 ? "" : "s", scale.reason), style.width) + "\n";
  out += wrap(network_line(*this), style.width) + "\n";
  out += wrap(
             "Items are those of the slowest node. An exchange is over before a run begins. Nothing else that nodes "
             "share is in these times, such as a file system.",
             style.width) +
         "\n";
  return out;
}

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
