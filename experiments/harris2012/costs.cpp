// The steps of Harris 2012 about the costs of launches, events and waits, and about what limits other kernels.
#include <fmt/format.h>

#include <set>

#include "experiments/cells.hpp"
#include "experiments/harris2012/harris2012.hpp"
#include "shiplap/measure/figures.hpp"
#include "shiplap/measure/measure.hpp"

namespace shiplap::experiments::harris {
namespace {

/// The figure of one primitive, or the reason why the device does not have it.
struct Measured {
  std::optional<Cost> time;
  std::vector<double> samples_us;
  std::string why_not;
};
Measured measured(const Bench& bench, const std::string& primitive) {
  const MeasureResult result = measure(bench.device, {.effort = Effort::quick, .only = primitive, .progress = {}});
  Measured out{.time = std::nullopt, .samples_us = {}, .why_not = "not measured"};
  for (const SkippedPrimitive& skipped : result.skipped) out.why_not = skipped.reason;
  for (const FailedPoint& failed : result.failed) out.why_not = failed.reason;
  for (const Measurement& m : result.measurements)
    out.samples_us.insert(out.samples_us.end(), m.samples_us.begin(), m.samples_us.end());
  const std::vector<shiplap::Figure> found = figures(result.measurements);
  if (found.empty()) return out;
  out.why_not = bench.info.is_virtual ? "not in the profile, so that the simulation assumes 0"
                                      : "measured as 0, which is below what the clock can tell";
  out.time = cost_of(found.front().time);
  return out;
}

}  // namespace

StepResult run_waits(const Bench& bench) {
  const Measured wait = measured(bench, "latency.wait");
  const Measured gap = measured(bench, "launch.gap");
  const Measured launch = measured(bench, "submit.launch");
  const Measured single = measured(bench, "launch.latency");
  Figure figure{.id = "waits",
                .where = "Timing with events",
                .title = "what launches, events and waits cost",
                .columns = {{"what", ""}, {"time of one", "µs"}, {"clock", ""}},
                .rows = {},
                .note = bench.info.is_virtual ? "Simulated on the profile. " : ""};
  const auto row = [&](const char* what, const std::optional<Cost>& time, const char* clock,
                       const std::string& why_not) {
    Cell shown;
    if (time && time->at_most)
      shown = fmt::format("at most {:.3g}", in_microseconds(time->time));
    else if (time)
      shown = in_microseconds(time->time);
    figure.rows.push_back({std::string(what), std::move(shown), std::string(clock)});
    if (!time) figure.note += fmt::format("{}: {}. ", what, why_not.empty() ? "not in the profile" : why_not);
  };
  std::optional<Cost> record;
  if (bench.profile.submission.event_record) record = cost_of(*bench.profile.submission.event_record);
  row("an empty kernel, its end waited for by the host", wait.time, "host", wait.why_not);
  row("an empty kernel behind another", gap.time, "events", gap.why_not);
  row("an empty kernel by itself", single.time, "events", single.why_not);
  row("to submit a launch", launch.time, "host", launch.why_not);
  row("to record an event (of the profile)", record, "host", "");

  StepResult result;
  // A wait with only an upper limit gives no verdict.
  if (wait.time && !wait.time->at_most && gap.time)
    result.findings.push_back(judge_waits(wait.time->time, *gap.time));
  else
    result.findings.push_back(unknown("stall", wait.time ? gap.why_not : wait.why_not));
  if (wait.time && !wait.time->at_most && record)
    result.findings.push_back(judge_events(*record, wait.time->time));
  else
    result.findings.push_back(unknown("light", "the profile does not say what an event costs the host"));
  if (bench.info.is_virtual) {
    result.findings.push_back(unknown("resolution", "simulated times have no resolution"));
  } else {
    std::set<double> distinct(single.samples_us.begin(), single.samples_us.end());
    distinct.insert(gap.samples_us.begin(), gap.samples_us.end());
    figure.note += fmt::format("{} different times by events among {}. ", distinct.size(),
                               single.samples_us.size() + gap.samples_us.size());
    result.findings.push_back(judge_grain(grain({distinct.begin(), distinct.end()})));
  }
  result.figures.push_back(std::move(figure));
  return result;
}

StepResult run_kernels(const Bench& bench) {
  Figure figure{.id = "kernels",
                .where = "Summary",
                .title = "built-in kernels: time at the limit of the memory and of the arithmetic",
                .columns = {{"workload", ""},
                            {"operations for each byte", "flop/B"},
                            {"at the memory's bandwidth", "ms"},
                            {"at the flop rate", "ms"},
                            {"limit", ""}},
                .rows = {},
                .note =
                    "From the bytes and operations of each kernel over the limits of the profile; nothing is run. "
                    "In double precision half the flop rate."};
  StepResult result;
  const GpuModel& gpu = bench.profile.gpus.front();
  // For the article's GPU only a theoretical peak is published, not a rate that a kernel reached.
  const std::optional<double> flops = gpu.flop_rate ? std::optional(gpu.flop_rate->value) : peak_flops(bench);
  if (!gpu.memory_bandwidth || !flops) {
    figure.note += " No rows: the profile lacks one of the two limits.";
    result.findings.push_back(unknown("most", "the profile lacks the bandwidth of the memory or the flop rate"));
    result.figures.push_back(std::move(figure));
    return result;
  }
  if (!gpu.flop_rate) figure.note += " The flop rate is the printed peak.";
  std::vector<KernelBalance> kernels;
  for (const WorkloadHelp& help : built_in_workloads()) {
    const Job job = find_workload(help.name).job;
    if (job.device_traffic.count == 0) continue;
    const double operations = job.flops * (job.double_precision ? 2 : 1);
    kernels.push_back({job.name, job.device_traffic / gpu.memory_bandwidth->value, Seconds{operations / *flops}});
    const KernelBalance& k = kernels.back();
    figure.rows.push_back({k.workload, job.flops / static_cast<double>(job.device_traffic.count), ms(k.memory),
                           ms(k.arithmetic), std::string(k.memory >= k.arithmetic ? "memory" : "arithmetic")});
  }
  result.findings.push_back(judge_kernels(kernels));
  result.figures.push_back(std::move(figure));
  return result;
}

}  // namespace shiplap::experiments::harris
