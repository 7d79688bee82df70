#include <fmt/format.h>

#include "shiplap/report/page/quantity.hpp"
#include "shiplap/report/page/sections.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap::page {
namespace {

Plot times_of_batches(const Replay& log) {
  Plot plot{.title = "Time of each batch",
            .note = "One colour for each choice. A batch may run beside others.",
            .x = {.label = "batch", .unit = ""},
            .y = {.label = "time", .unit = "s"}};
  for (const Choice& choice : log.table.choices) plot.series.push_back({.name = to_string(choice), .is_line = false});
  for (const BatchSeen& seen : log.seen)
    plot.series.at(seen.choice).points.push_back({.x = static_cast<double>(seen.batch), .y = seen.span.count()});
  std::erase_if(plot.series, [](const Series& series) { return series.points.empty(); });
  return plot;
}

Plot estimates_of(const Replay& log) {
  Plot plot{.title = "What the decisions assume",
            .note = "Estimated over planned time of the kernel and of copies, after each decision.",
            .x = {.label = "batch", .unit = ""},
            .y = {.label = "estimated over planned", .unit = "1"},
            .series = {{.name = "kernel"}, {.name = "copies"}},
            .limits = {{.name = "as planned", .y = 1}}};
  for (const Decision& decision : log.logged) {
    const auto batch = static_cast<double>(decision.after);
    plot.series[0].points.push_back({.x = batch, .y = decision.kernel, .label = decision.reason});
    plot.series[1].points.push_back({.x = batch, .y = decision.link, .label = decision.reason});
  }
  return plot;
}

DataTable decisions_of(const Replay& log) {
  DataTable table{.title = "Decisions",
                  .columns = {"after batch", "from", "to", "time of a batch", "why"},
                  .units = {"", "", "", "s"}};
  for (const Decision& decision : log.logged)
    table.rows.push_back(
        {number_cell(static_cast<double>(decision.after), std::to_string(decision.after)),
         to_string(log.table.choices.at(decision.from)), to_string(log.table.choices.at(decision.to)),
         number_cell(decision.period_to.count(),
                     fmt::format("{} to {}", to_string(decision.period_from), to_string(decision.period_to))),
         decision.reason});
  return table;
}

}  // namespace

Part adaptation_part(const Replay& log, const std::string& source) {
  Part part{.section = {.title = fmt::format("Adaptive run of {}", log.job), .source = source}};
  part.summary.push_back(fmt::format("The adaptive run of {} took {} batches and made {} decisions.", log.job,
                                     log.seen.size(), log.logged.size()));
  part.section.sentences.push_back(
      log.difference.empty() ? "Made again from the log, the decisions are the same."
                             : fmt::format("Made again from the log, the decisions differ: {}.", log.difference));
  if (!log.seen.empty()) part.section.figures.emplace_back(times_of_batches(log));
  if (!log.logged.empty()) {
    part.section.figures.emplace_back(estimates_of(log));
    part.section.figures.emplace_back(decisions_of(log));
  }
  return part;
}

}  // namespace shiplap::page
