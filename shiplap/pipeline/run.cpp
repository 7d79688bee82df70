#include "shiplap/pipeline/run.hpp"

#include <algorithm>

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
  auto copies = pipeline.prepare_duplex(limits);
  auto kernel = pipeline.prepare_kernel(limits);
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
  if (wanted.trace) {
    pipeline.refill();
    report.timeline = chosen.run({.trace = true}).timeline;
    if (report.difference.empty()) report.difference = pipeline.verify();
  }
  report.verified = report.difference.empty();
  report.observed_ms = median_estimate(report.samples_ms);
  report.bound_ms = median_estimate(report.bound_samples_ms);
  report.efficiency = report.bound_ms.value / report.observed_ms.value;
  return report;
}

}  // namespace shiplap
