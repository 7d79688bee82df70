#include "shiplap/report/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "shiplap/report/gantt.hpp"
#include "shiplap/report/rows.hpp"
#include "shiplap/report/svg.hpp"

namespace shiplap {
namespace {

Interval<Seconds> in_seconds(const Estimate& ms) {
  return {milliseconds(ms.value), milliseconds(ms.low), milliseconds(ms.high)};
}

/// What a virtual device gives is no observation, and is not called one.
bool is_simulated(const RunReport& run) { return run.device.starts_with("virtual:"); }
const char* observed_word(const RunReport& run) { return is_simulated(run) ? "simulated" : "observed"; }

bool has_prediction(const RunReport& run) {
  return run.predicted && run.predicted->timeline.spans.size() == run.schedule.ops.size();
}

}  // namespace

double prediction_error(Seconds predicted, Seconds observed) { return (predicted - observed) / observed; }

std::string run_report(const RunReport& run, const TextStyle& style) {
  std::string out =
      fmt::format("{} on {}\n{}\n\n", bold(run.workload, style), bold(run.device, style), to_string(run.choice));
  const auto count = [](const std::vector<double>& samples) { return std::to_string(samples.size()); };
  const auto spread = [](const std::vector<double>& samples) {
    return samples.size() > 1 ? percent(relative_spread(samples)) : std::string("–");
  };
  Table table({{""}, {"time", Align::right}, {"repeats", Align::right}, {"spread", Align::right}});
  if (run.predicted) table.add({"predicted", with_range(run.predicted->predicted), "–", "–"});
  if (!run.samples_ms.empty())
    table.add(
        {observed_word(run), with_range(in_seconds(run.observed_ms)), count(run.samples_ms), spread(run.samples_ms)});
  if (!run.bound_samples_ms.empty())
    table.add({is_simulated(run) ? "bound, simulated" : "bound, measured between", with_range(in_seconds(run.bound_ms)),
               count(run.bound_samples_ms), spread(run.bound_samples_ms)});
  out += table.text(style) + "\n";

  if (run.predicted && !run.samples_ms.empty())
    out += fmt::format(
        "error       {} (predicted against {})\n",
        signed_percent(prediction_error(run.predicted->predicted.value, milliseconds(run.observed_ms.value))),
        observed_word(run));
  if (run.efficiency > 0)
    out += fmt::format("efficiency  {} (bound over {})\n", percent(run.efficiency), observed_word(run));
  out += run.verified ? "result      verified against the host reference\n"
                      : fmt::format("result      WRONG: {}\n", run.difference);
  return out;
}

std::string run_picture(const RunReport& run, unsigned width) {
  std::vector<SvgPanel> panels;
  if (has_prediction(run)) panels.push_back({"predicted", run.schedule, run.predicted->timeline});
  panels.push_back({observed_word(run), run.schedule, run.timeline});
  return svg(panels, {.title = fmt::format("{} on {}", run.workload, run.device),
                      .subtitle = to_string(run.choice),
                      .bound = std::nullopt,
                      .width = width});
}

std::string run_gantt(const RunReport& run, const TextStyle& style) {
  Seconds end = last_end(run.timeline);
  if (has_prediction(run)) end = std::max(end, last_end(run.predicted->timeline));
  const auto draw = [&](const char* label, const Timeline& timeline) {
    return gantt(
        run.schedule, timeline,
        {.style = style, .title = fmt::format("{}, {}", label, to_string(timeline.makespan)), .axis_end = end});
  };
  std::string out;
  if (has_prediction(run)) out += draw("predicted", run.predicted->timeline) + "\n";
  return out + draw(is_simulated(run) ? "simulated" : "observed, one traced run", run.timeline);
}

}  // namespace shiplap
