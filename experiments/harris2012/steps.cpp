// The steps of Harris 2012 about SAXPY on the GPU: its bandwidth, every clock over sizes.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/cells.hpp"
#include "experiments/harris2012/harris2012.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/model/harris_2012.hpp"

namespace shiplap::experiments::harris {

using shiplap::to_string;

namespace {

std::string of_simulation(const Bench& bench) {
  return bench.info.is_virtual ? "Simulated on the profile, at the published size; no bytes are moved. " : "";
}

Bandwidth published_peak() {
  return harris_2012::theoretical_bandwidth(published_clock_mhz * 1e6, published_bus_bits, 2);
}

Figure theoretical_figure(const Bench& bench) {
  Figure figure{
      .id = "theoretical",
      .where = "Theoretical bandwidth",
      .title = "clock × width / 8 × 2",
      .columns = {{"memory of", ""}, {"clock", "MHz"}, {"width", "bit"}, {"peak", "GB/s"}, {"published", "GB/s"}},
      .rows = {{std::string("Tesla M2050"), published_clock_mhz, double{published_bus_bits}, gb(published_peak()),
                148.0}},
      .note =
          "The clock is the one that the driver reports, which counts two transfers a cycle whatever the "
          "memory does inside."};
  const auto number = [&](const char* name) -> Cell {
    for (const Conditions* conditions : {&bench.info.conditions, &bench.profile.conditions})
      if (const auto found = conditions->find(name); found != conditions->end())
        return std::strtod(found->second.c_str(), nullptr);
    return std::monostate{};
  };
  const auto peak = theoretical(bench);
  if (peak && *peak == published_peak()) return figure;
  figure.rows.push_back(
      {bench.info.name, number("gpu.memory_clock_max"), number("gpu.memory_bus_width"), gb(peak), std::monostate{}});
  if (!peak) figure.note += fmt::format(" Neither clock nor width of {} is known.", bench.info.name);
  return figure;
}

Figure saxpy_figure(const Bench& bench, const std::optional<SaxpyTimes>& times, const std::string& why_not) {
  const Bytes traffic = read_by(published_elements) + written_by(published_elements);
  const Seconds published = traffic / gigabytes_per_second(published_effective);
  const double published_fraction =
      gigabytes_per_second(published_effective).bytes_per_second / published_peak().bytes_per_second;
  Figure figure{.id = "saxpy",
                .where = "Effective bandwidth",
                .title = "SAXPY over 20 · 2^20 floats",
                .columns = {{"GPU", ""},
                            {"bytes", "MB"},
                            {"kernel", "ms"},
                            {"effective", "GB/s"},
                            {"of theoretical", "%"},
                            {"throughput", "GFLOP/s"},
                            {"first run", "ms"}},
                .rows = {{std::string("Tesla M2050, published"), static_cast<double>(traffic.count) * 1e-6,
                          ms(published), published_effective, 100 * published_fraction,
                          harris_2012::gigaflops(2 * published_elements, published), std::monostate{}}},
                .note = of_simulation(bench) +
                        "Of the published row only the bandwidth was printed: time, share and throughput follow from "
                        "it. Median by events of a kernel submitted before it could start; the first run is the "
                        "article's way: once, in a program that has just begun."};
  if (!times) {
    figure.note += fmt::format(" No row of {}: {}.", bench.info.name, why_not);
    return figure;
  }
  const auto peak = theoretical(bench);
  std::optional<double> share;
  if (peak) share = effective(*times).bytes_per_second / peak->bytes_per_second;
  figure.rows.push_back({bench.info.name, static_cast<double>(traffic.count) * 1e-6, ms(times->alone),
                         gb(effective(*times)), in_percent(share),
                         harris_2012::gigaflops(2 * times->elements, times->alone),
                         cell(times->first ? std::optional(in_milliseconds(*times->first)) : std::nullopt)});
  if (!times->assumptions.empty()) figure.note += " Latencies that the profile lacks are assumed to be 0.";
  return figure;
}

Finding theoretical_finding() {
  // The published peak computed again, on every device: 1546e6 · 48 · 2.
  const double ours = published_clock_mhz * 1e6 * (published_bus_bits / 8.0) * 2 * 1e-9;
  return {.claim = "theoretical",
          .verdict = std::abs(ours - 148) < 0.5 ? Verdict::holds : Verdict::does_not_hold,
          .observed = fmt::format("{:.6g} GB/s", ours),
          .why = ""};
}

/// Compares the peak by the formula with the rate of the stream kernel in the profile.
Finding formula_finding(const Bench& bench) {
  const auto peak = theoretical(bench);
  if (!peak) return unknown("formula", "clock and width of the device's memory are not known");
  if (bench.profile.gpus.empty() || !bench.profile.gpus.front().memory_bandwidth)
    return unknown("formula", "the profile has no bandwidth of this memory");
  // A wrong factor in the formula would be at least 2, and well-written kernels reach more than half of the peak.
  const Bandwidth reached = bench.profile.gpus.front().memory_bandwidth->value;
  const double share = reached.bytes_per_second / peak->bytes_per_second;
  Finding finding{.claim = "formula",
                  .verdict = share > 0.5 && share <= 1 ? Verdict::holds : Verdict::does_not_hold,
                  .observed = fmt::format("{} by the formula, of which kernels that read and write reach {} ({:.3g} %)",
                                          to_string(*peak), to_string(reached), 100 * share),
                  .why = ""};
  if (share > 1)
    finding.why = "kernels move more than the formula allows: two transfers a cycle are too few for this memory";
  else if (share <= 0.5)
    finding.why =
        "kernels reach no more than half of it; whether the factor of two or the kernels are at fault is open";
  return finding;
}

Finding peaks_finding(const Bench& bench) {
  // The GPU has 14 SMs with 32 multiply-adds per cycle at 1.15 GHz (NVIDIA's data sheet).
  const double single = 14 * 32 * 1.15 * 2;
  Finding finding{.claim = "peaks",
                  .verdict = Verdict::holds,
                  .observed = fmt::format("{:.4g} and {:.4g} GFLOP/s from 14 × 32 multiply-adds at 1.15 GHz, half as "
                                          "many in double precision",
                                          single, single / 2),
                  .why = ""};
  if (std::abs(single - published_single_gflops) > 1 || std::abs(single / 2 - published_double_gflops) > 1)
    finding.verdict = Verdict::does_not_hold;
  const auto peak = peak_flops(bench);
  if (peak && *peak != published_single_gflops * 1e9 && bench.profile.gpus.front().flop_rate)
    finding.observed += fmt::format("; {}: {:.4g} GFLOP/s by clock and SMs, {:.4g} measured", bench.info.name,
                                    *peak * 1e-9, bench.profile.gpus.front().flop_rate->value * 1e-9);
  return finding;
}

std::string count(std::uint64_t elements) {
  return elements % (1u << 20) == 0 ? fmt::format("{} Mi", elements >> 20) : fmt::format("{} Ki", elements >> 10);
}

std::vector<Cell> clocks_row(const Bench& bench, const SaxpyTimes& t) {
  const auto peak = theoretical(bench);
  std::optional<double> share;
  if (peak) share = effective(t).bytes_per_second / peak->bytes_per_second;
  std::vector<Cell> row(5);
  row[0] = count(t.elements);
  row[1] = us(t.alone);
  // Times that the simulation assumes to be 0 are no figures: calls that the profile lacks, and waits of the host.
  if (t.submitted > Seconds{0}) {
    row[2] = us(t.listed);
    if (!bench.info.is_virtual) row[3] = us(t.waited);
    row[4] = us(t.submitted);
  }
  row.push_back(t.submitted > Seconds{0} ? in_percent(t.submitted / t.alone) : in_percent(std::nullopt));
  row.push_back(gb(effective(t)));
  row.push_back(in_percent(share));
  return row;
}

}  // namespace

StepResult run_bandwidth(const Bench& bench) {
  StepResult result;
  std::optional<SaxpyTimes> times;
  std::string why_not;
  try {
    times = time_saxpy(bench, published_elements);
  } catch (const Unsupported& reason) {
    why_not = reason.what();
  }
  result.figures = {theoretical_figure(bench), saxpy_figure(bench, times, why_not)};
  result.findings = {theoretical_finding(), formula_finding(bench), peaks_finding(bench)};
  if (times) {
    result.findings.push_back(judge_effective(*times, theoretical(bench)));
    result.findings.push_back(judge_limit(*times, theoretical(bench), peak_flops(bench)));
    if (bench.info.is_virtual && bench.profile.origin == Origin::published)
      for (Finding& finding : result.findings)
        if ((finding.claim == "effective" || finding.claim == "formula") && finding.verdict == Verdict::holds)
          finding.why = "the bandwidth of this profile is the published run itself: this checks the arithmetic";
  } else {
    for (const char* claim : {"effective", "bound"}) result.findings.push_back(unknown(claim, why_not));
  }
  return result;
}

StepResult run_clocks(const Bench& bench) {
  std::vector<SaxpyTimes> all;
  std::string why_not;
  std::vector<std::uint64_t> sizes;
  // Sizes need up to 3 GiB of host and of device memory, and include the published size.
  const std::uint64_t most = bench.quick && !bench.info.is_virtual ? 1ull << 26 : 1ull << 28;
  for (std::uint64_t n = 1ull << 10; n <= most; n <<= 2) sizes.push_back(n);
  sizes.push_back(published_elements);
  std::ranges::sort(sizes);
  for (const std::uint64_t n : sizes) {
    if (bench.progress) bench.progress(fmt::format("saxpy:n={}", n), all.size(), sizes.size());
    if (read_by(n) > bench.limits.device_memory) continue;
    try {
      all.push_back(time_saxpy(bench, n));
    } catch (const Unsupported& reason) {
      why_not = reason.what();
      break;
    }
  }
  Figure figure{.id = "clocks",
                .where = "Timing with CPU timers, timing with events",
                .title = "one launch of SAXPY by every clock, over sizes",
                .columns = {{"elements", ""},
                            {"kernel alone, events", "µs"},
                            {"as listed, events", "µs"},
                            {"CPU timer with barrier", "µs"},
                            {"CPU timer without", "µs"},
                            {"without, of the kernel", "%"},
                            {"effective bandwidth", "GB/s"},
                            {"of theoretical", "%"}},
                .rows = {},
                .note = of_simulation(bench) +
                        "\"Alone\": the launch was submitted before it could start. \"As listed\": the first event is "
                        "recorded and then the launch is submitted, on an idle GPU. Medians."};
  if (!why_not.empty()) figure.note += fmt::format(" No rows: {}.", why_not);
  if (bench.info.is_virtual)
    figure.note += " The simulation has no caches, and does not know what a wait costs the host.";
  for (const SaxpyTimes& t : all) figure.rows.push_back(clocks_row(bench, t));
  if (!all.empty())
    figure.note += fmt::format(" With {} elements the time as listed is {:.3g} times that alone.",
                               count(all.front().elements), all.front().listed / all.front().alone);
  StepResult result{.figures = {figure}, .findings = {}};
  const auto published = std::ranges::find(all, published_elements, &SaxpyTimes::elements);
  if (published == all.end()) {
    for (const char* claim : {"asynchronous", "barrier"}) result.findings.push_back(unknown(claim, why_not));
    return result;
  }
  result.findings.push_back(judge_launch(all));
  result.findings.push_back(bench.info.is_virtual
                                ? unknown("barrier",
                                          "the simulated host knows of an end at once: what a wait costs "
                                          "cannot show")
                                : judge_barrier(*published));
  return result;
}

}  // namespace shiplap::experiments::harris
