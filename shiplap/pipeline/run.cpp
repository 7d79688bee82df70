#include "shiplap/pipeline/run.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

double milliseconds_of(const RunResult& result) { return in_milliseconds(result.timeline.makespan); }

}  // namespace

RunReport run(Pipeline& pipeline, Device& device, const Limits& limits, const RunPlan& wanted) {
  RunReport report;
  report.workload = pipeline.workload().job.name;
  report.device = device.info().id;
  report.choice = wanted.choice;
  report.predicted = wanted.predicted;

  auto chosen = pipeline.prepare(wanted.choice, limits);
  // The bound is measured through what memory the choice leaves, in pieces if need be.
  Limits rest = limits;
  rest.device_memory = std::min(limits.device_memory, device.info().free_memory / 10 * 4);
  auto copies = pipeline.prepare_duplex(rest);
  auto kernel = pipeline.prepare_kernel(rest);
  report.schedule = chosen.schedule();

  pipeline.refill();
  chosen.run();
  report.difference = pipeline.verify();
  for (unsigned i = 0; i < wanted.warm_up; ++i) {
    chosen.run();
    copies.run({.hold = true});
    kernel.run({.hold = true});
  }
  for (unsigned i = 0; i < wanted.repeat; ++i) {
    report.samples_ms.push_back(milliseconds_of(chosen.run()));
    report.bound_samples_ms.push_back(
        std::max(milliseconds_of(copies.run({.hold = true})), milliseconds_of(kernel.run({.hold = true}))));
  }
  // Once more after the timed runs, with fresh data.
  pipeline.refill();
  const RunOptions options{.trace = wanted.trace ? Trace::best : Trace::none};
  RunResult last = chosen.run(options);
  if (wanted.trace) {
    // The first traced run sets the tracing up.
    pipeline.refill();
    last = chosen.run(options);
  }
  report.timeline = last.timeline;
  report.trace_source = last.trace_source;
  if (report.difference.empty()) report.difference = pipeline.verify();
  report.verified = report.difference.empty();
  report.observed_ms = median_estimate(report.samples_ms);
  report.bound_ms = median_estimate(report.bound_samples_ms);
  report.efficiency = report.bound_ms.value / report.observed_ms.value;
  return report;
}

Json to_json(const RunReport& report) {
  const auto estimate = [](const Estimate& e) {
    return Json{{"value", e.value}, {"low", e.low}, {"high", e.high}, {"unit", "ms"}};
  };
  Json json{{"schema", "shiplap/run"},
            {"version", 1},
            {"workload", report.workload},
            {"device", report.device},
            {"choice", to_json(report.choice)},
            {"predicted", report.predicted ? to_json(*report.predicted) : Json(nullptr)},
            {"clock", "device events, from the mark before the first op to the last end mark"},
            {"observed", estimate(report.observed_ms)},
            {"bound", estimate(report.bound_ms)},
            {"efficiency", report.efficiency},
            {"verified", report.verified},
            {"difference", report.verified ? Json(nullptr) : Json(report.difference)},
            {"samples_ms", report.samples_ms},
            {"bound_samples_ms", report.bound_samples_ms}};
  if (!report.timeline.spans.empty()) {
    json["trace_source"] = report.trace_source;
    json["timeline"] = Json::array();
    for (std::size_t i = 0; i < report.timeline.spans.size(); ++i) {
      const Span& span = report.timeline.spans[i];
      json["timeline"].push_back({{"op", describe(report.schedule, OpId{static_cast<std::uint32_t>(i)})},
                                  {"engine", to_string(span.engine)},
                                  {"start_ms", in_milliseconds(span.start)},
                                  {"end_ms", in_milliseconds(span.end)}});
    }
  }
  return json;
}

}  // namespace shiplap
