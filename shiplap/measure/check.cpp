#include "shiplap/measure/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/measure/limits.hpp"
#include "shiplap/profile/missing.hpp"
#include "shiplap/profile/topology.hpp"

namespace shiplap {
namespace {

/// Fractions of a limit. A figure from `good` on is normal for such hardware; a figure below `wrong` means a fault.
/// Sound nodes were measured twice: an H200 on PCIe 5 (profiles/h200.json; docs/reference/primitives.md lists its
/// fractions) and, for copies alone, a GTX Titan on PCIe 3 (van Werkhoven 2014, Table I). Copies in one direction reach
/// 88 % and 76 %; packet headers take the rest (payloads of 256 and 128 bytes). `good` is 4 to 15 percentage points
/// below the lowest measured fraction. `wrong` is a guess.
struct Thresholds {
  double good = 0;
  double wrong = 0;
};
constexpr Thresholds copy_thresholds{sound_share_of_link, 0.6};
constexpr Thresholds of_duplex{0.8, 0.6};
constexpr Thresholds of_directions{0.85, 0.6};
constexpr Thresholds of_zero_copy{0.8, 0.5};
constexpr Thresholds of_device_memory{0.7, 0.55};
constexpr Thresholds of_arithmetic{0.85, 0.7};

class Checks {
 public:
  std::vector<CheckedFigure> all;

  /// A `limit` of 0 means unknown, for the reason in `limit_text`.
  void add(std::string what, std::string unit, double measured, std::string measured_text, double limit,
           std::string limit_text, Thresholds thresholds, std::string causes) {
    CheckedFigure figure{.what = std::move(what),
                         .measured = std::move(measured_text),
                         .limit = std::move(limit_text),
                         .unit = std::move(unit),
                         .measured_value = measured,
                         .limit_value = limit,
                         .expected = thresholds.good,
                         .causes = {}};
    if (measured > 0 && limit > 0) {
      figure.fraction = measured / limit;
      figure.verdict = figure.fraction >= thresholds.good    ? Verdict::good
                       : figure.fraction >= thresholds.wrong ? Verdict::low
                                                             : Verdict::bad;
    }
    if (figure.verdict == Verdict::low || figure.verdict == Verdict::bad) figure.causes = std::move(causes);
    all.push_back(std::move(figure));
  }
};

/// A possible cause of a low figure, unless the conditions of the node rule it out.
struct PossibleCause {
  const char* text;
  bool (*possible)(const Conditions&) = [](const Conditions&) { return true; };
};
constexpr PossibleCause trained_down{
    "the link trained down to fewer lanes or an older generation (nvidia-smi -q, under GPU Link Info, while copies "
    "run)",
    [](const Conditions& c) {
      const std::string loaded = condition(c, "gpu.link_loaded");
      return loaded == unknown_fact || loaded != condition(c, "gpu.link");
    }};
constexpr PossibleCause older_slot{"a slot of an older generation or a switch that others use"};
constexpr PossibleCause far_socket{"memory on the far socket",
                                   [](const Conditions& c) { return condition(c, "host.numa_nodes") != "1"; }};
constexpr PossibleCause translating_iommu{"an IOMMU that translates", [](const Conditions& c) {
                                            const std::string iommu = condition(c, "host.iommu");
                                            return iommu != "none" && !iommu.starts_with("pass-through");
                                          }};
constexpr PossibleCause scattered_pages{"pages of 4 KiB that are scattered", [](const Conditions& c) {
                                          const std::string pages = condition(c, "host.huge_pages");
                                          return pages != "always" && pages != "madvise";
                                        }};
constexpr PossibleCause host_memory{"host memory too slow, or busy with something else"};
constexpr PossibleCause one_engine{"one copy engine in use for both directions"};
constexpr PossibleCause shared_switch{"a switch that others use"};

std::string possible(const Profile& profile, std::initializer_list<PossibleCause> causes) {
  std::string text;
  for (const PossibleCause& cause : causes)
    if (cause.possible(profile.conditions)) text += fmt::format("{}{}", text.empty() ? "" : "; ", cause.text);
  return text;
}

std::string rate_text(double bytes_per_second) { return to_string(Bandwidth{bytes_per_second}); }

double bytes_per_second(PerByte g) { return g.seconds > 0 ? 1 / g.seconds : 0; }

/// `link` is null when the link was not measured.
void check_link(const Profile& profile, const LinkModel* link, Checks& checks) {
  const auto bandwidth = [&](std::string what, double measured, double limit, const std::string& of,
                             Thresholds thresholds, const std::string& causes) {
    checks.add(std::move(what), "B/s", measured, measured > 0 ? rate_text(measured) : "not measured", limit,
               limit > 0 ? fmt::format("{}{}", rate_text(limit), of) : "–", thresholds, causes);
  };
  const std::string trained = condition(profile.conditions, "gpu.link");
  const double limit = pcie_link_rate(trained);
  const auto alone = [&](DirectionModel LinkModel::*way, const char* name) {
    if (link == nullptr || is_missing(profile, fmt::format("links[{}].{}.per_byte", link - profile.links.data(), name)))
      return 0.0;
    return bytes_per_second((link->*way).per_byte.value);
  };
  const double h2d = alone(&LinkModel::h2d, "h2d");
  const double d2h = alone(&LinkModel::d2h, "d2h");
  const std::string slow_link =
      possible(profile, {trained_down, older_slot, far_socket, translating_iommu, host_memory});
  bandwidth("copies to the GPU", h2d, limit, ", " + trained, copy_thresholds, slow_link);
  bandwidth("copies from the GPU", d2h, limit, ", " + trained, copy_thresholds, slow_link);
  bandwidth("the slower direction against the faster", std::min(h2d, d2h), std::max(h2d, d2h), "", of_directions,
            possible(profile, {far_socket, host_memory, translating_iommu}));

  const auto beside = [&](DirectionModel LinkModel::*way) {
    return link && (link->*way).duplex ? bytes_per_second((link->*way).duplex->per_byte.value) : 0;
  };
  const std::string slow_both = possible(profile, {host_memory, one_engine, shared_switch});
  bandwidth("copies to the GPU while copies from it run", beside(&LinkModel::h2d), h2d, " alone", of_duplex, slow_both);
  bandwidth("copies from the GPU while copies to it run", beside(&LinkModel::d2h), d2h, " alone", of_duplex, slow_both);

  const auto fastest = [&](std::vector<ZeroCopyRate> ZeroCopyModel::*rows) {
    double best = 0;
    if (link && link->zero_copy)
      for (const ZeroCopyRate& row : (*link->zero_copy).*rows) best = std::max(best, row.rate.value.bytes_per_second);
    return best;
  };
  const std::string slow_kernels = possible(profile, {far_socket, translating_iommu, scattered_pages, host_memory});
  bandwidth("kernels that read host memory", fastest(&ZeroCopyModel::read), h2d, " by copies", of_zero_copy,
            slow_kernels);
  bandwidth("kernels that write host memory", fastest(&ZeroCopyModel::write), d2h, " by copies", of_zero_copy,
            slow_kernels);
}

std::string clocks_down(const Profile& profile) {
  const std::string held_by = condition(profile.conditions, "gpu.clocks_held_by");
  if (held_by != unknown_fact && held_by != "nothing")
    return fmt::format("clocks were held down by {}; another process on the GPU", held_by);
  return "a clock that is held down by power, heat or a setting (nvidia-smi -q -d PERFORMANCE); another process on the "
         "GPU";
}

/// Compares the link's speed and width under load with its maximum.
void check_training(const Profile& profile, Checks& checks) {
  const std::string could = condition(profile.conditions, "gpu.link");
  const std::string is = condition(profile.conditions, "gpu.link_loaded");
  const double loaded = pcie_link_rate(is);
  checks.add("the link as it is trained", "B/s", loaded, loaded > 0 ? is : std::string("needs gpu.link_loaded"),
             pcie_link_rate(could), could == unknown_fact ? std::string("needs gpu.link") : could,
             {.good = 1, .wrong = 1},
             "a slot or riser with fewer lanes or of an older generation; bad contact; a setting of the firmware");
}

void check_gpu(const Profile& profile, const GpuModel& gpu, Checks& checks) {
  const double memory_limit = device_memory_limit(profile.conditions);
  const double bandwidth = gpu.memory_bandwidth ? gpu.memory_bandwidth->value.bytes_per_second : 0;
  checks.add(
      "device memory", "B/s", bandwidth, bandwidth > 0 ? rate_text(bandwidth) : "not measured", memory_limit,
      memory_limit > 0
          ? fmt::format("{}, {}, {}", rate_text(memory_limit), condition(profile.conditions, "gpu.memory_clock_max"),
                        condition(profile.conditions, "gpu.memory_bus_width"))
          : std::string("needs gpu.memory_bus_width and clock"),
      of_device_memory, "a memory clock that is held down; another process on the GPU; rows remapped after errors");

  const double peak = arithmetic_limit(profile.conditions, gpu.sm_count);
  const double flops = gpu.flop_rate ? gpu.flop_rate->value : 0;
  const auto teraflops = [](double f) { return fmt::format("{:.2f} Tflop/s", f / 1e12); };
  checks.add("fp32 multiply-adds", "flop/s", flops, flops > 0 ? teraflops(flops) : "not measured", peak,
             peak > 0 ? fmt::format("{}, {} SMs at {}", teraflops(peak), gpu.sm_count,
                                    condition(profile.conditions, "gpu.sm_clock_max"))
                      : std::string("needs gpu.sm_clock_max, capability"),
             of_arithmetic, clocks_down(profile));
}

void check_bytes(const Profile& profile, Checks& checks) {
  if (profile.measurements.empty()) return;
  const auto lost = std::ranges::count(profile.measurements, false, &Measurement::verified);
  CheckedFigure figure{
      .what = "bytes that arrived",
      .measured = fmt::format("{} of {} points", profile.measurements.size() - static_cast<std::size_t>(lost),
                              profile.measurements.size()),
      .limit = "all",
      .unit = "points",
      .measured_value = static_cast<double>(profile.measurements.size() - static_cast<std::size_t>(lost)),
      .limit_value = static_cast<double>(profile.measurements.size()),
      .fraction = 1 - static_cast<double>(lost) / static_cast<double>(profile.measurements.size()),
      .expected = 1,
      .verdict = lost == 0 ? Verdict::good : Verdict::bad,
      .causes = lost == 0 ? "" : "memory or link that corrupts data: examine the node before using it"};
  checks.all.push_back(std::move(figure));
}

}  // namespace

std::vector<CheckedFigure> check(const Profile& profile) {
  if (profile.gpus.empty()) throw Error(fmt::format("profile {} has no GPU", profile.name));
  Checks checks;
  check_training(profile, checks);
  check_link(profile, profile.find_link(0), checks);
  check_gpu(profile, profile.gpus.front(), checks);
  check_bytes(profile, checks);
  return std::move(checks.all);
}

std::string governor_warning(const Conditions& conditions) {
  const std::string governors = condition(conditions, "host.governor");
  // The condition lists several governors as in "performance (CPUs 0-7,16), powersave (CPUs 8-15)".
  constexpr std::string_view separator = ", ";
  for (std::size_t at = 0; at < governors.size();) {
    const std::size_t end = std::min(governors.find(separator, at), governors.size());
    const std::string_view entry = std::string_view(governors).substr(at, end - at);
    const std::string_view governor = entry.substr(0, entry.find(" ("));
    if (governor != "performance" && governor != unknown_fact)
      return fmt::format(
          "the frequency governor of the CPUs is {}: host threads may run below their full clock, so their calls and "
          "copies take longer and vary more; set it to performance (as root: cpupower frequency-set -g performance) "
          "and measure again",
          governors);
    at = end + separator.size();
  }
  return "";
}

Verdict verdict_of(const std::vector<CheckedFigure>& figures) {
  for (const Verdict verdict : {Verdict::bad, Verdict::busy, Verdict::low, Verdict::good})
    if (std::ranges::find(figures, verdict, &CheckedFigure::verdict) != figures.end()) return verdict;
  return Verdict::unknown;
}

}  // namespace shiplap
