#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "shiplap/core/statistics.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/run_pictures.hpp"
#include "shiplap/report/sections.hpp"
#include "shiplap/report/timeline_plot.hpp"

namespace shiplap::document {
namespace {

Table times_of(const Report& run) {
  Table table{.title = "Times",
              .columns = {{"what"},
                          {"time", Align::right, "s"},
                          {fmt::format("against {}", observed_label(run)), Align::right, "1"},
                          {"runs", Align::right},
                          {"spread", Align::right, "1"}}};
  const auto add = [&](const char* what, const Interval<Seconds>& time, const std::vector<Seconds>& samples) {
    // A simulation compared with itself says nothing.
    const bool is_itself = run.simulated && time.value == run.observed.value;
    std::vector<Cell> cells{what, time_cell(time),
                            is_itself ? Cell("–") : change_cell(time.value / run.observed.value)};
    if (!samples.empty()) cells.push_back(count_cell(samples.size()));
    std::vector<double> seconds;
    for (const Seconds& sample : samples) seconds.push_back(sample.count());
    if (samples.size() > 1) cells.push_back(percent_cell(relative_spread(seconds)));
    table.add(std::move(cells));
  };
  add("predicted", run.planned.predicted, {});
  add(observed_label(run), run.observed, run.samples);
  if (run.ideal_overlap)
    add(run.simulated ? "ideal overlap" : "ideal overlap, between the runs", *run.ideal_overlap,
        run.ideal_overlap_samples);
  if (run.bound) add("bound", Interval<Seconds>::exact(*run.bound), {});
  std::string note = run.ideal_overlap ? "Ideal overlap: the longest stage alone." : "";
  if (run.bound) note += note.empty() ? "Bound: no strategy is faster." : " Bound: no strategy is faster.";
  if (!note.empty()) table.notes.push_back(std::move(note));
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
  TimelinePlot plot{
      .title = fmt::format("Timeline: predicted above {}", label),
      .note = fmt::format(
          "A row for each engine, a bar for each op; every other chunk is lighter.{}",
          view.run.simulated
              ? ""
              : fmt::format(
                    " Observed is one further run, which takes longer when it is traced; its times are from {}.",
                    view.run.trace_source))};
  if (!view.predicted_timeline.empty()) plot.panels.push_back(panel_of(view.predicted_timeline, "predicted"));
  plot.panels.push_back(panel_of(view.timeline, label));
  return plot;
}

/// The verdict on the result, and the time of the run.
Headline answer_of(const Report& run) {
  Headline answer{.verdict = run.verified()   ? "VERIFIED"
                             : run.is_wrong() ? fmt::format("WRONG RESULT: {}.", *run.difference)
                                              : "RAN in",
                  .judgement = run.verified()   ? Judgement::good
                               : run.is_wrong() ? Judgement::bad
                                                : Judgement::none,
                  .numbers = {{time_cell(run.observed).text, observed_label(run)}}};
  std::string& text = answer.sentence;
  text = fmt::format("{}{} {}{}", answer.verdict, run.is_wrong() ? " It took" : "", answer.numbers.front().value,
                     run.simulated ? " (simulated)" : "");
  const auto add = [&](KeyNumber number) {
    text += fmt::format(", {} {}", number.value, number.label);
    answer.numbers.push_back(std::move(number));
  };
  if (run.ideal_overlap)
    add({fmt::format("{:.2f} times", run.observed.value / run.ideal_overlap->value), "ideal overlap"});
  if (const auto efficiency = run.efficiency()) {
    const double above = 1 / *efficiency - 1;
    add({percent(std::abs(above)), above < 0 ? "below the bound" : "above the bound"});
  }
  if (!run.simulated) {
    const std::string error = signed_percent(prediction_error(run.planned.predicted.value, run.observed.value));
    text += fmt::format("; predicted {} ({})", time_cell(run.planned.predicted).text, error);
    answer.numbers.push_back({error, "predicted, against observed"});
  }
  text += ".";
  return answer;
}

}  // namespace

Section run_section(const RunView& view, const std::string& source) {
  const Report& run = view.run;
  Section section{.title = fmt::format("Run of {} by {}", run.job, run.planned.choice.strategy), .source = source};
  section.headlines.push_back(answer_of(run));
  section.sentences.push_back(fmt::format("{} on {} by {}.", run.job, run.device, to_string(run.planned.choice)));
  if (run.simulated) section.sentences.push_back("The simulator made both times, predicted and simulated.");
  if (run.pinning > Seconds{0})
    section.sentences.push_back(fmt::format("Pinning takes {} before the runs: predicted, and not part of these times.",
                                            to_string(run.pinning)));
  section.figures.emplace_back(times_of(run));
  if (run.samples.size() > 1) section.figures.emplace_back(samples_of(run));
  if (!view.timeline.empty()) section.figures.emplace_back(timelines_of(view));
  return section;
}

}  // namespace shiplap::document
