// Verdicts on the article's claims.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/harris2012/harris2012.hpp"
#include "shiplap/model/harris_2012.hpp"

namespace shiplap::experiments::harris {

using shiplap::to_string;

namespace {

/// Tolerance of the fraction of peak in percentage points. SAXPY reached 74.4 % in the article; ten points more or less
/// do not change the conclusion.
constexpr double fraction_tolerance = 0.10;
/// Arithmetic does not limit a kernel whose fraction of the arithmetic peak is less than a fifth of its fraction of the
/// memory peak.
constexpr double clearly_less = 0.2;
/// A clock without a synchronisation shows only the launch if it shows less than this fraction of a long kernel's time,
constexpr double launch_fraction = 0.2;
/// and if its time grows by no more than this factor while the kernel's time grows at least tenfold.
constexpr double launch_growth = 3;
/// Relative tolerance of kernel times that the host's clock measures with a synchronisation.
constexpr double barrier_tolerance = 0.05;
/// Least factor of a slow-down that is called a stall; less could be noise.
constexpr double stall = 1.5;
/// Tolerance factor for "approximately half a microsecond".
constexpr double grain_factor = 2;
/// A call that returns after this fraction of the copy's time or more has waited for its end.
constexpr double waits = 0.9;
constexpr double does_not_wait = 0.3;
/// Size from which on a copy takes much longer than a call.
constexpr Bytes large = 16_MiB;
constexpr double rate_tolerance = 0.05;

double ratio(Seconds a, Seconds b) { return a / b; }
std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

}  // namespace

Finding judge_effective(const SaxpyTimes& times, std::optional<Bandwidth> peak) {
  const Bandwidth reached = effective(times);
  Finding finding{.claim = "effective", .observed = to_string(reached), .why = ""};
  if (!peak) {
    finding.why = "clock and width of the device's memory are not known, so that it has no theoretical bandwidth";
    return finding;
  }
  const double published =
      published_effective * 1e9 /
      harris_2012::theoretical_bandwidth(published_clock_mhz * 1e6, published_bus_bits, 2).bytes_per_second;
  const double share = reached.bytes_per_second / peak->bytes_per_second;
  finding.observed = fmt::format("{}, {} of {}", to_string(reached), percent(share), to_string(*peak));
  if (share > 1) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format(
        "{:.3g} times the peak; possible causes are data in a cache and a reported clock that is not the "
        "memory's",
        share);
  } else if (share < published - fraction_tolerance) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format("a smaller share of the peak than the published {}", percent(published));
  } else if (share > published + fraction_tolerance) {
    finding.verdict = Verdict::holds_with_a_change;
    finding.why = fmt::format("a larger share of the peak than the published {}", percent(published));
  } else {
    finding.verdict = Verdict::holds;
  }
  return finding;
}

Finding judge_limit(const SaxpyTimes& times, std::optional<Bandwidth> peak, std::optional<double> flops) {
  const double reached = harris_2012::gigaflops(2 * times.elements, times.alone);
  Finding finding{.claim = "bound", .observed = fmt::format("{:.4g} GFLOP/s", reached), .why = ""};
  if (!peak || !flops) {
    finding.why = "the peaks of this device are not known";
    return finding;
  }
  const double of_memory = effective(times).bytes_per_second / peak->bytes_per_second;
  const double of_arithmetic = reached * 1e9 / *flops;
  finding.observed = fmt::format("{:.4g} GFLOP/s, {} of {:.4g} GFLOP/s; {} of the bandwidth", reached,
                                 percent(of_arithmetic), *flops * 1e-9, percent(of_memory));
  finding.verdict = of_arithmetic < clearly_less * of_memory ? Verdict::holds : Verdict::does_not_hold;
  if (finding.verdict == Verdict::does_not_hold)
    finding.why = fmt::format(
        "the share of the arithmetic peak is {:.3g} times that of the bandwidth, and {:.3g} at "
        "most would be clearly less",
        of_arithmetic / of_memory, clearly_less);
  return finding;
}

Finding judge_launch(std::span<const SaxpyTimes> sizes) {
  Finding finding{.claim = "asynchronous", .observed = "", .why = ""};
  const auto [least, most] = std::ranges::minmax_element(sizes, {}, &SaxpyTimes::alone);
  const Seconds launch = most->submitted;
  finding.observed = fmt::format("{} without a barrier where the kernel takes {} ({} elements), {} where it takes {}",
                                 to_string(launch), to_string(most->alone), most->elements, to_string(least->submitted),
                                 to_string(least->alone));
  if (launch <= Seconds{0}) {
    finding.observed = "";
    finding.why = "what a launch costs the host is not in the profile";
  } else if (most->alone < 10 * least->alone || most->alone < 5 * least->submitted) {
    finding.why = "no kernel was long enough beside its launch";
  } else if (ratio(launch, most->waited) < launch_fraction && ratio(launch, least->submitted) < launch_growth) {
    finding.verdict = Verdict::holds;
  } else {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format(
        "without a barrier the clock shows {} of the longest kernel, and {:.3g} times what it "
        "shows of the shortest",
        percent(ratio(launch, most->waited)), ratio(launch, least->submitted));
  }
  return finding;
}

Finding judge_barrier(const SaxpyTimes& times) {
  const double excess = ratio(times.waited, times.alone) - 1;
  Finding finding{
      .claim = "barrier",
      .observed = fmt::format("{} by the host's clock, {} by events, kernel alone {}: {:+.3g} %",
                              to_string(times.waited), to_string(times.listed), to_string(times.alone), 100 * excess),
      .why = ""};
  finding.verdict = Verdict::holds;
  if (excess > barrier_tolerance) {
    finding.verdict = Verdict::holds_with_a_change;
    finding.why = fmt::format("the figure holds {} besides the kernel, whose launch and wait are part of it",
                              to_string(times.waited - times.alone));
  } else if (excess < -barrier_tolerance) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format("the host's clock shows {} less than the kernel takes by events",
                              to_string(times.alone - times.waited));
  }
  return finding;
}

std::optional<Cost> cost_of(const Interval<Seconds>& time) {
  if (time.value > Seconds{0}) return Cost{.time = time.value, .at_most = false};
  if (time.high > Seconds{0}) return Cost{.time = time.high, .at_most = true};
  return std::nullopt;
}

std::string text_of(const Cost& cost) { return (cost.at_most ? "at most " : "") + to_string(cost.time); }

Finding judge_waits(Seconds waited_for, const Cost& behind_another) {
  Finding finding{.claim = "stall",
                  .verdict = Verdict::holds,
                  .observed = fmt::format("an empty kernel takes {} with a wait of the host behind each, {} without",
                                          to_string(waited_for), text_of(behind_another)),
                  .why = ""};
  if (waited_for < stall * behind_another.time) {
    finding.verdict = behind_another.at_most ? Verdict::cannot_be_checked : Verdict::does_not_hold;
    finding.why = fmt::format("a wait makes a kernel take {}{:.3g} times as long; {:.3g} times would be a stall",
                              behind_another.at_most ? "at least " : "", waited_for / behind_another.time, stall);
  }
  return finding;
}

Finding judge_events(const Cost& record, Seconds waited_for) {
  Finding finding{.claim = "light",
                  .verdict = Verdict::holds,
                  .observed = fmt::format("{} of the host's time for an event, {} for a launch and a wait",
                                          text_of(record), to_string(waited_for)),
                  .why = ""};
  if (record.time * 2 > waited_for) {
    finding.verdict = record.at_most ? Verdict::cannot_be_checked : Verdict::does_not_hold;
    finding.why = fmt::format("an event costs the host {}{:.3g} times as much as a launch and a wait",
                              record.at_most ? "at most " : "", record.time / waited_for);
  }
  return finding;
}

std::optional<Seconds> grain(std::vector<double> times_us) {
  // Times are single-precision milliseconds, so differences below a nanosecond are rounding.
  constexpr double rounding_us = 1e-3;
  std::ranges::sort(times_us);
  std::optional<Seconds> smallest;
  for (std::size_t i = 1; i < times_us.size(); ++i) {
    const double step = times_us[i] - times_us[i - 1];
    if (step > rounding_us && (!smallest || microseconds(step) < *smallest)) smallest = microseconds(step);
  }
  return smallest;
}

Finding judge_grain(std::optional<Seconds> step) {
  Finding finding{.claim = "resolution", .observed = "", .why = "all times were equal"};
  if (!step) return finding;
  const double published = published_grain_us * 1e-6;
  finding.observed = fmt::format("{} at least between two times", to_string(*step));
  finding.verdict = Verdict::holds;
  finding.why = "";
  if (step->count() < published / grain_factor) {
    finding.verdict = Verdict::holds_with_a_change;
    finding.why = fmt::format("events of this device are {:.3g} times as fine", published / step->count());
  } else if (step->count() > published * grain_factor) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = "no two times were nearer to each other";
  }
  return finding;
}

Finding judge_blocking(std::span<const CopyTimes> copies) {
  Finding finding{.claim = "blocking", .observed = "", .why = ""};
  std::optional<double> least_pageable;
  std::optional<double> most_pinned;
  for (const CopyTimes& copy : copies) {
    if (copy.size < large) continue;
    const double share = ratio(copy.submitted, copy.waited);
    finding.observed += fmt::format("{}{} {}, {}: back after {}", finding.observed.empty() ? "" : "; ", copy.memory,
                                    copy.direction, to_string(copy.size), percent(share));
    if (copy.memory == "pageable")
      least_pageable = std::min(least_pageable.value_or(share), share);
    else
      most_pinned = std::max(most_pinned.value_or(share), share);
  }
  if (!least_pageable) {
    finding.why = fmt::format("no copy of {} or more of pageable memory was timed", to_string(large));
  } else if (*least_pageable < waits) {
    finding.verdict = Verdict::does_not_hold;
    finding.why =
        fmt::format("a call that copies pageable memory is back after {} of the time", percent(*least_pageable));
  } else if (most_pinned && *most_pinned < does_not_wait) {
    finding.verdict = Verdict::holds_with_a_change;
    finding.why = fmt::format(
        "with pageable memory, as in the article; asynchronous copies of pinned memory hold the host for {} "
        "of the time at most",
        percent(*most_pinned));
  } else {
    finding.verdict = Verdict::holds;
  }
  return finding;
}

Finding judge_rates(std::span<const CopyTimes> copies) {
  Finding finding{.claim = "transfers", .observed = "", .why = ""};
  double worst = 0;
  for (const CopyTimes& copy : copies) {
    if (copy.size < large || copy.memory != "pinned") continue;
    worst = std::max(worst, std::abs(ratio(copy.waited, copy.events) - 1));
    finding.observed += fmt::format("{}{}, {}: {} by events, {} by the host's clock",
                                    finding.observed.empty() ? "" : "; ", copy.direction, to_string(copy.size),
                                    to_string(copy.size / copy.events), to_string(copy.size / copy.waited));
  }
  if (finding.observed.empty()) {
    finding.why = fmt::format("no copy of {} or more of pinned memory was timed", to_string(large));
  } else {
    finding.verdict = worst <= rate_tolerance ? Verdict::holds : Verdict::does_not_hold;
    if (worst > rate_tolerance) finding.why = fmt::format("the two clocks differ by {}", percent(worst));
  }
  return finding;
}

Finding judge_kernels(std::span<const KernelBalance> kernels) {
  const auto by_memory =
      std::ranges::count_if(kernels, [](const KernelBalance& k) { return k.memory >= k.arithmetic; });
  Finding finding{.claim = "most",
                  .verdict = Verdict::holds,
                  .observed = fmt::format("{} of the {} built-in kernels", by_memory, kernels.size()),
                  .why = ""};
  if (2 * static_cast<std::size_t>(by_memory) <= kernels.size()) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = "the others do more operations for each byte than this GPU needs to be busy";
  }
  return finding;
}

}  // namespace shiplap::experiments::harris
