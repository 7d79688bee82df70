// G and g of each direction while the other one is busy. One copy more in a burst takes k·G₂ + g₂ while copies in the
// other direction, which last longer, go on.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/fit.hpp"

namespace shiplap {
namespace {

/// Largest ratio of the two directions' rates at which the background copies last longer than the burst. There are
/// twice as many of them (`duplex_burst` in trial.cpp), minus a margin of 10 %.
constexpr double outlasts = 1.8;

DuplexFit split_off_rate(const std::map<Bytes, Uncertain>& periods, Bytes from, const Lines& large) {
  DuplexFit fit{.per_byte = large.slope, .rows = {}};
  for (const auto& [size, period] : periods) {
    if (size >= from) {
      fit.rows.push_back({size, large.intercepts[0].value_or(Uncertain::exact(0))});
      break;
    }
    fit.rows.push_back({size, period - in_bytes(size) * large.slope});
  }
  return fit;
}

}  // namespace

std::optional<std::pair<DuplexFit, DuplexFit>> fit_duplex(Observations& observations, const DirectionFit& to_device,
                                                          const DirectionFit& to_host, Findings& findings) {
  const auto missing = [&](const std::string& reason) {
    findings.missing.push_back({"links[0].h2d.duplex", reason});
    findings.missing.push_back({"links[0].d2h.duplex", reason});
    return std::nullopt;
  };
  const double ratio = to_device.per_byte.value() / to_host.per_byte.value();
  if (ratio > outlasts || ratio < 1 / outlasts)
    return missing("one direction is nearly twice as fast as the other, so that the copies beside a burst end first");
  std::array<DuplexFit, 2> fits;
  Residual residual{"links[0].duplex", 0, ""};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string primitive = fmt::format("duplex.pinned.{}", i == 0 ? "h2d" : "d2h");
    const std::map<Bytes, Uncertain> periods = burst_periods(observations.of(primitive));
    const Bytes from = periods.empty() ? Bytes{0} : large_from(periods.rbegin()->first);
    if (std::ranges::count_if(periods, [&](const auto& p) { return p.first >= from; }) < 2)
      return missing(fmt::format("not measured: needs verified points of {} at two large sizes", primitive));
    const Lines large = fit_lines(std::span(&periods, 1), from, observations.sources());
    fits[i] = split_off_rate(periods, from, large);
    for (const auto& [size, period] : periods) {
      const auto row = std::ranges::find_if(fits[i].rows, [least = size](const auto& r) { return r.size >= least; });
      const Uncertain& gap = row == fits[i].rows.end() ? fits[i].rows.back().gap : row->gap;
      keep_worst(residual, in_bytes(size) * fits[i].per_byte.value() + std::max(0.0, gap.value()), period,
                 fmt::format("{} {}", i == 0 ? "h2d" : "d2h", to_string(size)));
    }
  }
  findings.residuals.push_back(residual);
  return std::pair{fits[0], fits[1]};
}

}  // namespace shiplap
