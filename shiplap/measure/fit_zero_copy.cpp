// What kernels move over the link by their own accesses, and what they and copies leave each other.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shiplap/measure/fit.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {
namespace {

constexpr double fitted_width = 16;  // bytes of an access; what is under way counts, whatever the width

struct Key {
  Bytes launch;
  Bytes in_flight;
  friend auto operator<=>(const Key&, const Key&) = default;
};

/// Time of one launch or copy more.
std::map<Key, Uncertain> mapped_periods(const Observations& observations, const std::string& primitive) {
  std::vector<Observation> points = observations.of(primitive);
  std::erase_if(points, [](const Observation& o) { return o.argument("width") != fitted_width; });
  return periods(points, "count", [](const Observation& o) -> Key {
    return {o.bytes(), Bytes{static_cast<std::uint64_t>(o.argument("blocks") * map_probe_threads * fitted_width)}};
  });
}

/// Bytes over a period without its gap; nullopt for a period that is no longer than it.
std::optional<Interval<Bandwidth>> rate_without_gap(double bytes, const Uncertain& period, Seconds gap) {
  const Estimate flow = (period - Uncertain::exact(gap.count())).estimate();
  if (!(flow.low > 0)) return std::nullopt;
  return Interval<Bandwidth>{{bytes / flow.value}, {bytes / flow.high}, {bytes / flow.low}};
}

/// Copies in step with kernels of as many bytes.
struct InStep {
  double bytes = 0;
  double gap = 0;      ///< seconds between copies
  double running = 0;  ///< seconds of a period in which a kernel runs
  /// Kernels wait for no copy and are done before the copies, some of whose gaps fall among the kernels; else a gap is
  /// over when the kernel starts that waited for the copy before it.
  bool kernels_ahead = false;
  PerByte alone;  ///< of a copy with the link to itself
};

/// The copies go at this rate while a kernel runs and at their own for the rest of a period.
std::optional<Interval<Bandwidth>> rate_in_step(const InStep& step, const Uncertain& period) {
  const auto beside = [&](double whole) {
    const double during = std::min(step.running, whole - step.gap);
    double rate = 0;
    double among = 0;  // of the gap, among the kernels
    for (int i = 0; i < (step.kernels_ahead ? 8 : 1); ++i) {
      rate = (step.bytes - (whole - during - (step.gap - among)) / step.alone.seconds) / (during - among);
      among = std::min(during / 2, step.gap * std::clamp(rate * (during - among) / step.bytes, 0.0, 1.0));
    }
    return rate;
  };
  const Estimate whole = period.estimate();
  if (!(whole.low > step.gap)) return std::nullopt;
  // A copy that hardly moved while the kernel ran tells no rate.
  constexpr double least = 0.02;  // of its own
  const double value = beside(whole.value);
  if (!(value > least / step.alone.seconds)) return std::nullopt;
  return Interval<Bandwidth>{
      {value}, {std::max(beside(whole.high), 0.1 * value)}, {std::max(beside(whole.low), value)}};
}

}  // namespace

std::optional<ZeroCopyModel> fit_zero_copy(const Observations& observations, const LinkModel* link, const GpuModel& gpu,
                                           Findings& findings) {
  const auto missing = [&](const std::string& what) -> std::optional<ZeroCopyModel> {
    findings.missing.push_back({"links[0].zero_copy", fmt::format("not measured: needs {}", what)});
    return std::nullopt;
  };
  if (link == nullptr || !gpu.kernel_gap) return missing("the link and launch.gap");
  if (!gpu.launch_latency) return missing("launch.latency");
  ZeroCopyModel model;
  const Seconds kernel_gap = gpu.kernel_gap->value;
  for (const auto& [name, table] : mapped_rate_names) {
    const std::string primitive = fmt::format("mapped.{}", name);
    std::map<Bytes, Interval<Bandwidth>> rates;  // where a grid was measured twice, the longer launch counts
    for (const auto& [key, period] : mapped_periods(observations, primitive))
      if (const auto found = rate_without_gap(in_bytes(key.launch), period, kernel_gap)) rates[key.in_flight] = *found;
    for (const auto& [in_flight, found] : rates) (model.*table).push_back({in_flight, found});
    if (rates.empty()) return missing("verified points of " + primitive);
  }
  for (const auto& [name, table] : mapped_beside_names) {
    const std::string access(name.substr(0, name.find('_')));
    const std::string way(name.substr(name.rfind('_') + 1));
    const std::string of_kernel = fmt::format("mapped.{}.beside.{}", access, way);
    const std::string of_copy = fmt::format("copies.{}.beside.{}", way, access);
    const auto beside = mapped_periods(observations, of_copy);
    const auto in_step = mapped_periods(observations, fmt::format("copies.{}.in_step.{}", way, access));
    const DirectionModel& direction = way == "h2d" ? link->h2d : link->d2h;
    const auto gap_of = [&](Bytes size) { return cost_at(direction, size).gap; };
    for (const auto& [key, period] : mapped_periods(observations, of_kernel)) {
      const auto kernel_rate = rate_without_gap(in_bytes(key.launch), period, kernel_gap);
      if (!kernel_rate) continue;
      // Copies that wait for slower kernels say nothing about themselves.
      constexpr double clearly_longer = 1.05;
      const auto step = in_step.find(key);
      const auto free = beside.find(key);
      const bool ahead = access == "read";
      // Kernels ahead follow each other with what an event between them leaves, in which the link is taken as busy too.
      const double moving = in_bytes(key.launch) / kernel_rate->value.bytes_per_second;
      const InStep pair{.bytes = in_bytes(key.launch),
                        .gap = gap_of(key.launch).count(),
                        .running = ahead ? moving + gpu.launch_latency->value.count() : moving,
                        .kernels_ahead = ahead,
                        .alone = direction.per_byte.value};
      std::optional<Interval<Bandwidth>> copy_rate;
      if (step != in_step.end() && (free == beside.end() || step->second.value() > clearly_longer * period.value()))
        copy_rate = rate_in_step(pair, step->second);
      if (!copy_rate && free != beside.end())
        copy_rate = rate_without_gap(in_bytes(beside_copy_size), free->second, gap_of(beside_copy_size));
      if (copy_rate) (model.*table).push_back({key.launch, key.in_flight, *kernel_rate, *copy_rate});
    }
    if ((model.*table).empty())
      return missing(fmt::format("verified points of {} and of {} or their like in step", of_kernel, of_copy));
  }
  return model;
}

}  // namespace shiplap
