#include "experiments/published_sweep/report.hpp"

#include <fmt/format.h>

namespace shiplap::experiments::published_sweep {
namespace {

std::string described(const PublishedPoint& p) {
  return fmt::format("{} elements, {} call(s), {} stream(s)", p.size, p.calls, p.streams);
}

void add(Table& table, const std::string& model, const std::string& points, const PublishedErrors& e) {
  table.add({model, points, std::to_string(e.count), percent(e.median), percent(e.percentile_95),
             signed_percent(e.worst), described(e.worst_at)});
}

std::string of_groups(std::string_view quantity, const std::vector<PublishedGroup>& groups, const TextStyle& style) {
  Table table{.columns = {{std::string(quantity), Align::right},
                          {"points", Align::right},
                          {"median", Align::right},
                          {"bias", Align::right},
                          {"worst", Align::right}}};
  for (const PublishedGroup& g : groups)
    table.add({std::to_string(g.value), std::to_string(g.errors.count), percent(g.errors.median),
               signed_percent(g.errors.bias), signed_percent(g.errors.worst)});
  return table.text(style, "  ");
}

std::string fitted(const SimulationFit& fit) {
  const LinkModel& link = fit.profile.links.front();
  const auto range = [](const DirectionModel& d, Interval<Seconds> CopyCost::*term) {
    return fmt::format("{} ({}) to {} ({})", to_string((d.costs.front().*term).value), to_string(d.costs.front().size),
                       to_string((d.costs.back().*term).value), to_string(d.costs.back().size));
  };
  const auto picoseconds = [](const Interval<Seconds>& t) { return fmt::format("{:.3g} ps", t.value.count() * 1e12); };
  const std::string one_kernel =
      fit.calls_vary ? "" : "  The number of calls never varies: copies and kernel cannot be told apart here.\n";
  return one_kernel + fmt::format(
                          "  copies     {} and {}; which is which the times do not say\n"
                          "  L+o        {}, each way, with launch and synchronisation\n"
                          "  g          {}\n"
                          "  a call     {}, of three for each chunk\n"
                          "  kernel     {} an element and {} an element and call, at least {} a call\n",
                          to_string(bandwidth(link.h2d.per_byte.value)), to_string(bandwidth(link.d2h.per_byte.value)),
                          range(link.h2d, &CopyCost::latency_overhead), range(link.h2d, &CopyCost::gap),
                          to_string(fit.profile.submission.copy->value), picoseconds(fit.kernel.per_element),
                          picoseconds(fit.kernel.per_element_and_call), to_string(fit.kernel.latency_per_call.value));
}

}  // namespace

std::string published_report(const PublishedEvaluation& evaluation, const TextStyle& style) {
  std::string out = bold(evaluation.data, style) + "\n";
  out += wrap(fmt::format("Fitted on the points up to {} elements and {} streams; predicted minus published time, as a "
                          "share of the published one.",
                          evaluation.rule.largest_size, evaluation.rule.most_streams),
              style.width) +
         "\n";
  Table table{.columns = {{"model"},
                          {"points"},
                          {"count", Align::right},
                          {"median", Align::right},
                          {"95th", Align::right},
                          {"worst", Align::right},
                          {"at", Align::left}}};
  for (const PublishedModel& m : evaluation.models) {
    add(table, m.name, "fitted", m.training);
    if (m.held_out) add(table, m.name, "held out", *m.held_out);
  }
  out += "\n" + table.text(style, "  ");
  out += "\n" + bold("What was fitted (simulation)", style) + "\n" + fitted(evaluation.simulation);
  const PublishedModel& simulation = evaluation.models.front();
  if (!simulation.held_out) return out;
  out += "\n" + bold("Held-out points (simulation)", style) + "\n" + of_groups("elements", simulation.by_size, style);
  out += "\n" + of_groups("streams", simulation.by_streams, style);
  out += "\n" + of_groups("calls", simulation.by_calls, style);
  out += "\n" + of_groups("bytes of a copy", simulation.by_chunk, style);
  return out;
}

}  // namespace shiplap::experiments::published_sweep
