#include "shiplap/report/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "shiplap/report/gantt.hpp"
#include "shiplap/report/rows.hpp"
#include "shiplap/report/svg.hpp"

namespace shiplap {
namespace {

bool has_prediction(const Report& run) { return !run.planned.timeline.spans.empty(); }

/// The cells "repeats" and "spread" for the samples.
std::vector<std::string> cells_of(const std::vector<Seconds>& samples) {
  std::vector<double> seconds;
  for (const Seconds& sample : samples) seconds.push_back(sample.count());
  return {std::to_string(samples.size()), samples.size() > 1 ? percent(relative_spread(seconds)) : "–"};
}

}  // namespace

const char* observed_label(const Report& run) { return run.simulated ? "simulated" : "observed"; }

double prediction_error(Seconds predicted, Seconds observed) { return (predicted - observed) / observed; }

std::string run_report(const Report& run, const TextStyle& style) {
  std::string out = fmt::format("{} on {}{}\n{}\n\n", bold(run.job, style), bold(run.device, style),
                                run.simulated ? " (simulated)" : "", to_string(run.planned.choice));
  Table table({{""}, {"time", Align::right}, {"repeats", Align::right}, {"spread", Align::right}});
  const auto add = [&](const char* what, const Interval<Seconds>& time, const std::vector<Seconds>& samples) {
    const std::vector<std::string> cells = cells_of(samples);
    table.add({what, with_interval(time), cells[0], cells[1]});
  };
  table.add({"predicted", with_interval(run.planned.predicted), "–", "–"});
  add(observed_label(run), run.observed, run.samples);
  if (run.ideal_overlap)
    add(run.simulated ? "ideal overlap, simulated" : "ideal overlap, measured between", *run.ideal_overlap,
        run.ideal_overlap_samples);
  if (run.bound) table.add({"bound", to_string(*run.bound), "–", "–"});
  out += table.text(style) + "\n";

  out += run.simulated ? "error       none: nothing was observed, and one simulator gave both times\n"
                       : fmt::format("error       {} (predicted against {})\n",
                                     signed_percent(prediction_error(run.planned.predicted.value, run.observed.value)),
                                     observed_label(run));
  if (const auto efficiency = run.efficiency())
    out += fmt::format("efficiency  {} (bound over {})\n", percent(*efficiency), observed_label(run));
  if (run.pinning > Seconds{0})
    out +=
        fmt::format("pinning     {} before the runs, predicted and not part of these times\n", to_string(run.pinning));
  if (run.verified())
    out += "result      verified against the host reference\n";
  else if (run.is_wrong())
    out += fmt::format("result      WRONG: {}\n", *run.difference);
  return out;
}

std::string run_picture(const Report& run, unsigned width) {
  std::vector<SvgPanel> panels;
  if (has_prediction(run)) panels.push_back({"predicted", *run.planned.schedule, run.planned.timeline});
  panels.push_back({observed_label(run), *run.planned.schedule, run.timeline});
  return svg(panels, {.title = fmt::format("{} on {}", run.job, run.device),
                      .subtitle = to_string(run.planned.choice),
                      .bound = std::nullopt,
                      .width = width});
}

std::string run_gantt(const Report& run, const TextStyle& style) {
  const Seconds end = std::max(last_end(run.timeline), last_end(run.planned.timeline));
  const auto draw = [&](const char* label, const Timeline& timeline) {
    return gantt(
        *run.planned.schedule, timeline,
        {.style = style, .title = fmt::format("{}, {}", label, to_string(timeline.makespan)), .axis_end = end});
  };
  std::string out;
  if (has_prediction(run)) out += draw("predicted", run.planned.timeline) + "\n";
  return out + draw(run.simulated ? "simulated" : "observed, one traced run", run.timeline);
}

}  // namespace shiplap
