// What kernels move over the link by their own accesses, and what they and copies leave each other.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shiplap/measure/fit.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {
namespace {

double number(Bytes size) { return static_cast<double>(size.count); }

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
    return {Bytes{static_cast<std::uint64_t>(o.argument("bytes"))},
            Bytes{static_cast<std::uint64_t>(o.argument("blocks") * map_probe_threads * fitted_width)}};
  });
}

/// Bytes over a period without its gap; nullopt for a period that is no longer than it.
std::optional<Interval<Bandwidth>> rate(double bytes, const Uncertain& period, Seconds gap) {
  const Estimate flow = (period - Uncertain::exact(gap.count())).estimate();
  if (!(flow.low > 0)) return std::nullopt;
  return Interval<Bandwidth>{{bytes / flow.value}, {bytes / flow.high}, {bytes / flow.low}};
}

/// Of copies in step with kernels of as many bytes: the copies go at this rate while a kernel runs and at their own for
/// the rest of a period.
std::optional<Interval<Bandwidth>> rate_in_step(double bytes, const Uncertain& period, Seconds gap, Bandwidth kernel,
                                                PerByte alone) {
  const Estimate flow = (period - Uncertain::exact(gap.count())).estimate();
  if (!(flow.low > 0)) return std::nullopt;
  const double running = bytes / kernel.bytes_per_second;
  const auto beside = [&](double whole) {
    const double during = std::min(running, whole);
    return (bytes - (whole - during) / alone.seconds) / during;
  };
  // A copy that hardly moved while the kernel ran tells no rate; and none is slower than its whole period says.
  const double value = beside(flow.value);
  if (!(value > 0)) return std::nullopt;
  return Interval<Bandwidth>{{value}, {std::max(beside(flow.high), 0.1 * value)}, {std::max(beside(flow.low), value)}};
}

}  // namespace

std::optional<ZeroCopyModel> fit_zero_copy(const Observations& observations, const LinkModel* link, const GpuModel& gpu,
                                           Findings& findings) {
  const auto missing = [&](const std::string& what) -> std::optional<ZeroCopyModel> {
    findings.missing.push_back({"links[0].zero_copy", fmt::format("not measured: needs {}", what)});
    return std::nullopt;
  };
  if (link == nullptr || !gpu.kernel_gap) return missing("the link and launch.gap");
  ZeroCopyModel model;
  const Seconds kernel_gap = gpu.kernel_gap->value;
  for (const auto& [name, table] : mapped_rate_names) {
    const std::string primitive = fmt::format("mapped.{}", name);
    std::map<Bytes, Interval<Bandwidth>> rates;  // where a grid was measured twice, the longer launch counts
    for (const auto& [key, period] : mapped_periods(observations, primitive))
      if (const auto found = rate(number(key.launch), period, kernel_gap)) rates[key.in_flight] = *found;
    for (const auto& [in_flight, found] : rates) (model.*table).push_back({in_flight, found});
    if (rates.empty()) return missing("verified points of " + primitive);
  }
  for (const auto& [name, table] : mapped_beside_names) {
    const std::string access(name.substr(0, name.find('_')));
    const std::string way(name.substr(name.rfind('_') + 1));
    const std::string of_kernel = fmt::format("mapped.{}.beside.{}", access, way);
    const std::string of_copy = fmt::format("copies.{}.beside.{}", way, access);
    const auto copies = mapped_periods(observations, of_copy);
    const auto gap_of = [&](Bytes size) { return cost_at(way == "h2d" ? link->h2d : link->d2h, size).gap; };
    for (const auto& [key, period] : mapped_periods(observations, of_kernel)) {
      const auto copy = copies.find(key);
      if (copy == copies.end()) continue;
      const auto kernel_rate = rate(number(key.launch), period, kernel_gap);
      const bool in_step = name == "write_beside_h2d";
      const auto copy_rate = !kernel_rate ? std::nullopt
                             : in_step    ? rate_in_step(number(key.launch), copy->second, gap_of(key.launch),
                                                         kernel_rate->value, link->h2d.per_byte.value)
                                          : rate(number(beside_copy_size), copy->second, gap_of(beside_copy_size));
      if (kernel_rate && copy_rate) (model.*table).push_back({key.launch, key.in_flight, *kernel_rate, *copy_rate});
    }
    if ((model.*table).empty()) return missing(fmt::format("verified points of {} and {}", of_kernel, of_copy));
  }
  return model;
}

}  // namespace shiplap
