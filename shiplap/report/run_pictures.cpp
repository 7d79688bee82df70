#include "shiplap/report/run_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "shiplap/report/gantt.hpp"
#include "shiplap/report/rows.hpp"
#include "shiplap/report/svg.hpp"

namespace shiplap {
namespace {

bool has_prediction(const Report& run) { return !run.planned.timeline.spans.empty(); }

}  // namespace

const char* observed_label(const Report& run) { return run.simulated ? "simulated" : "observed"; }

double prediction_error(Seconds predicted, Seconds observed) { return (predicted - observed) / observed; }

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
  // A simulation that was predicted with the device's own profile would be drawn twice.
  const bool is_itself = run.simulated && run.timeline.makespan == run.planned.timeline.makespan;
  if (has_prediction(run) && !is_itself) out += draw("predicted", run.planned.timeline) + "\n";
  return out + draw(run.simulated ? "simulated" : "observed, one traced run", run.timeline);
}

}  // namespace shiplap
