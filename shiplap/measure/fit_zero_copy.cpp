// Fit of zero-copy rates: kernels that access host memory over the link, alone and concurrent with copies.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/fit.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {
namespace {

Bytes in_flight_of(const Observation& o) {
  return Bytes{static_cast<std::uint64_t>(o.argument("blocks") * map_probe_threads * widest_access)};
}

/// Time of one additional launch or copy.
struct Period {
  Bytes size;
  Uncertain time;
};

/// Periods by bytes in flight.
std::map<Bytes, Period> periods_of(const Observations& observations, const std::string& primitive, bool of_copies) {
  const std::vector<Observation> points = observations.of(primitive);
  std::map<Bytes, Period> result;
  for (const auto& [in_flight, time] : periods(points, "count", in_flight_of))
    for (const Observation& o : points)
      if (in_flight_of(o) == in_flight)
        result[in_flight] = {of_copies ? copy_size_beside(o.measurement->arguments) : o.bytes(), time};
  return result;
}

/// Rate of the bytes over the period minus `besides`; nullopt when the period is no longer than `besides`.
std::optional<Interval<Bandwidth>> rate_without(Seconds besides, const Period& period) {
  const Estimate flow = (period.time - Uncertain::exact(besides.count())).estimate();
  const double bytes = in_bytes(period.size);
  if (!(flow.low > 0)) return std::nullopt;
  return Interval<Bandwidth>{{bytes / flow.value}, {bytes / flow.high}, {bytes / flow.low}};
}

/// Limits the rate of copies concurrent with kernels to that of copies alone.
Interval<Bandwidth> no_faster(const Interval<Bandwidth>& rate, const PerByte& alone) {
  const auto limited = [&](Bandwidth of) { return Bandwidth{std::min(of.bytes_per_second, 1 / alone.seconds)}; };
  return {limited(rate.value), limited(rate.low), limited(rate.high)};
}

}  // namespace

std::optional<ZeroCopyModel> fit_zero_copy(const Observations& observations, const LinkModel* link, const GpuModel& gpu,
                                           Findings& findings) {
  const auto missing = [&](const std::string& what) -> std::optional<ZeroCopyModel> {
    findings.missing.push_back({"links[0].zero_copy", fmt::format("not measured: needs {}", what)});
    return std::nullopt;
  };
  if (link == nullptr || !gpu.kernel_gap) return missing("the link and launch.gap");
  const Seconds kernel_gap = gpu.kernel_gap->value;
  ZeroCopyModel model;
  for (const auto& [name, table] : zero_copy_rate_names) {
    const std::string primitive = fmt::format("mapped.{}", name);
    for (const auto& [in_flight, period] : periods_of(observations, primitive, false))
      if (const auto rate = rate_without(kernel_gap, period)) (model.*table).push_back({in_flight, *rate});
    if ((model.*table).empty()) return missing(fmt::format("verified points of {}", primitive));
  }
  for (const auto& [name, table] : zero_copy_beside_names) {
    const std::string access(name.substr(0, name.find('_')));
    const std::string way(name.substr(name.rfind('_') + 1));
    const std::string of_kernel = fmt::format("mapped.{}.beside.{}", access, way);
    const std::string of_copy = fmt::format("copies.{}.beside.{}", way, access);
    const DirectionModel& direction = way == "h2d" ? link->h2d : link->d2h;
    const auto kernels = periods_of(observations, of_kernel, false);
    for (const auto& [in_flight, period] : periods_of(observations, of_copy, true)) {
      const auto kernel = kernels.find(in_flight);
      if (kernel == kernels.end()) continue;
      const auto of_the_kernel = rate_without(kernel_gap, kernel->second);
      const auto of_the_copy = rate_without(cost_at(direction, period.size).gap, period);
      if (of_the_kernel && of_the_copy)
        (model.*table).push_back({in_flight, *of_the_kernel, no_faster(*of_the_copy, direction.per_byte.value)});
    }
    if ((model.*table).empty()) return missing(fmt::format("verified points of {} and of {}", of_copy, of_kernel));
  }
  return model;
}

}  // namespace shiplap
