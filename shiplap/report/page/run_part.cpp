#include <fmt/format.h>

#include "shiplap/report/page/quantity.hpp"
#include "shiplap/report/page/sections.hpp"
#include "shiplap/report/page/timeline_plot.hpp"
#include "shiplap/report/run_report.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap::page {
namespace {

DataTable times_of(const Report& run) {
  DataTable table{.title = "Times",
                  .columns = {"what", "time", fmt::format("beside the {} time", observed_label(run))},
                  .units = {"", "s", "1"}};
  const auto add = [&](const char* what, const Interval<Seconds>& time) {
    table.rows.push_back({what, time_cell(time), change_cell(time.value / run.observed.value)});
  };
  add("predicted", run.planned.predicted);
  add(observed_label(run), run.observed);
  if (run.bound) add("the bound, which no strategy is below", Interval<Seconds>::exact(*run.bound));
  if (run.ideal_overlap) add("ideal overlap: the longest stage alone", *run.ideal_overlap);
  return table;
}

Plot samples_of(const Report& run) {
  Series samples{.name = observed_label(run), .is_line = false};
  for (std::size_t i = 0; i < run.samples.size(); ++i)
    samples.points.push_back({.x = static_cast<double>(i + 1), .y = run.samples[i].count()});
  Plot plot{.title = "Time of each run",
            .x = {.label = "run", .unit = ""},
            .y = {.label = "time", .unit = "s"},
            .series = {std::move(samples)},
            .limits = {{.name = "predicted", .y = run.planned.predicted.value.count()}}};
  if (run.bound) plot.limits.push_back({.name = "bound", .y = run.bound->count()});
  return plot;
}

TimelinePlot timelines_of(const RunView& view) {
  const char* label = observed_label(view.run);
  TimelinePlot plot{.title = fmt::format("Timeline: predicted above {}", label),
                    .note = fmt::format(
                        "A row for each engine, a bar for each op, one colour for each chunk. Observed is one further "
                        "run, which takes longer when it is traced; its times are from {}.",
                        view.run.trace_source)};
  if (!view.predicted_timeline.empty()) plot.panels.push_back(panel_of(view.predicted_timeline, "predicted"));
  plot.panels.push_back(panel_of(view.timeline, label));
  return plot;
}

std::string result_of(const Report& run) {
  if (run.verified()) return "Every byte of the result was verified.";
  return run.is_wrong() ? fmt::format("The result is wrong: {}.", *run.difference) : "The result was not verified.";
}

}  // namespace

Part run_part(const RunView& view, const std::string& source) {
  const Report& run = view.run;
  Part part{
      .section = {.title = fmt::format("Run of {} by {}", run.job, run.planned.choice.strategy), .source = source}};
  std::string summary =
      fmt::format("{} on {} with {}: {} {}, predicted {} ({})", run.job, run.device, to_string(run.planned.choice),
                  observed_label(run), time_cell(run.observed).text, time_cell(run.planned.predicted).text,
                  signed_percent(prediction_error(run.planned.predicted.value, run.observed.value)));
  if (run.bound) summary += fmt::format("; {:.3f} times the bound", run.observed.value / *run.bound);
  if (run.simulated) summary += " (simulated, not observed)";
  part.summary.push_back(run.is_wrong() ? fmt::format("WRONG RESULT: {}. {}", *run.difference, summary)
                                        : summary + ".");
  part.section.sentences.push_back(summary + ". " + result_of(run));
  part.section.figures.emplace_back(times_of(run));
  if (run.samples.size() > 1) part.section.figures.emplace_back(samples_of(run));
  if (!view.timeline.empty())
    part.section.figures.emplace_back(timelines_of(view));
  else
    part.section.sentences.emplace_back(
        "The run has no timeline: `shiplap run --json --gantt` writes predicted and observed times of every op.");
  return part;
}

}  // namespace shiplap::page
