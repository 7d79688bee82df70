// Fit of G, L+o and g of copies in one direction, and of the link.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "shiplap/core/error.hpp"
#include "shiplap/core/interpolation.hpp"
#include "shiplap/measure/fit.hpp"

namespace shiplap {
namespace {

/// Size from which on the fixed cost of a copy is assumed constant.
constexpr Bytes certainly_large = 16_MiB;

// The next constants decide how many stream groups follow from the number of copies before a stream.

/// Number of copies below which a stream counts as the first.
constexpr double first_of_all = 0.5;
/// A number of copies is a multiple of a group when it differs by no more than this, or by this fraction of a group.
constexpr double most_off = 0.6;
constexpr double most_off_fraction = 0.2;
/// Fraction of the samples that must be whole groups.
constexpr double enough_in_groups = 0.8;

Uncertain interpolate(const std::map<Bytes, Uncertain>& table, Bytes size) {
  const auto [below, above] = neighbours(table, in_bytes(size), [](const auto& row) { return in_bytes(row.first); });
  if (below == above || above->first == size) return above->second;
  const double share = in_bytes(size - below->first) / in_bytes(above->first - below->first);
  return (1 - share) * below->second + share * above->second;
}

/// Copies are not faster concurrent with copies in the other direction. Samples that scatter far may say so, down to no
/// time.
Interval<PerByte> no_faster_than(PerByte alone, const Uncertain& per_byte) {
  const auto limited = [&](PerByte one) { return std::max(one, alone); };
  const Interval<PerByte> measured = non_negative<PerByte>(per_byte);
  return {limited(measured.value), limited(measured.low), limited(measured.high)};
}

DirectionModel direction_model(const DirectionFit& fit, const std::optional<DuplexFit>& duplex) {
  DirectionModel model;
  model.per_byte = non_negative<PerByte>(fit.per_byte);
  for (const auto& row : fit.rows)
    model.costs.push_back({.size = row.size,
                           .latency_overhead = non_negative<Seconds>(row.latency_overhead),
                           .gap = non_negative<Seconds>(row.gap)});
  if (duplex) {
    model.duplex = DuplexModel{.per_byte = no_faster_than(model.per_byte.value, duplex->per_byte), .gaps = {}};
    for (const auto& row : duplex->rows) model.duplex->gaps.push_back({row.size, non_negative<Seconds>(row.gap)});
  }
  return model;
}

/// Gap g between the copies of a batch, with an entry in `missing` without usable points.
std::vector<GapAt> fit_batches(const Observations& observations, std::string_view direction, const Uncertain& per_byte,
                               Findings& findings) {
  const std::string primitive = fmt::format("batch.pinned.{}", direction);
  std::vector<GapAt> gaps;
  for (const auto& [size, period] : burst_periods(observations.of(primitive)))
    gaps.push_back({size, non_negative<Seconds>(period - in_bytes(size) * per_byte)});
  if (gaps.empty())
    findings.missing.push_back({fmt::format("links[0].{}.batched", direction),
                                fmt::format("not measured: needs verified points of {}", primitive)});
  return gaps;
}

}  // namespace

std::optional<Uncertain> one_more(const std::map<double, Uncertain>& times) {
  if (times.size() < 2) return std::nullopt;
  const auto& [few, short_time] = *times.begin();
  const auto& [many, long_time] = *times.rbegin();
  return (long_time - short_time) / (many - few);
}

std::map<Bytes, Uncertain> burst_periods(const std::vector<Observation>& bursts) {
  return periods(bursts, "copies", [](const Observation& o) { return o.bytes(); });
}

Bytes large_from(Bytes largest_measured) { return std::min(certainly_large, largest_measured / 4); }

void keep_worst(Residual& residual, double fitted, const Uncertain& observed, const std::string& at) {
  if (observed.value() <= 0) return;
  const double error = std::abs(fitted - observed.value()) / observed.value();
  if (error >= residual.worst) residual = {residual.parameter, error, at};
}

Lines fit_lines(std::span<const std::map<Bytes, Uncertain>> families, Bytes from, ErrorSources& sources) {
  Lines lines;
  lines.intercepts.resize(families.size());
  std::vector<bool> fitted(families.size());
  for (std::size_t f = 0; f < families.size(); ++f)
    fitted[f] = !families[f].empty() && families[f].rbegin()->first >= from;
  // The fit is repeated without families that have negative intercepts. A new slope can make further intercepts
  // negative, and each family is removed at most once.
  for (bool again = true; again;) {
    again = false;
    std::vector<Equation> equations;
    for (std::size_t f = 0; f < families.size(); ++f) {
      for (const auto& [size, time] : families[f]) {
        if (size < from) continue;
        Equation equation{{in_bytes(size)}, time};
        for (std::size_t column = 0; column < families.size(); ++column)
          if (fitted[column]) equation.coefficients.push_back(column == f ? 1 : 0);
        equations.push_back(std::move(equation));
      }
    }
    const Solution solution = least_squares(equations, sources);
    lines.slope = solution.unknowns[0];
    std::size_t column = 1;
    for (std::size_t f = 0; f < families.size(); ++f) {
      if (!fitted[f]) continue;
      lines.intercepts[f] = solution.unknowns[column++];
      if (lines.intercepts[f]->value() >= 0) continue;
      fitted[f] = false;
      again = true;
    }
  }
  return lines;
}

DirectionFit::Row DirectionFit::at(Bytes size) const {
  std::map<Bytes, Uncertain> latencies;
  std::map<Bytes, Uncertain> gaps;
  for (const Row& row : rows) {
    latencies.emplace(row.size, row.latency_overhead);
    gaps.emplace(row.size, row.gap);
  }
  return {size, interpolate(latencies, size), interpolate(gaps, size)};
}

std::optional<DirectionFit> fit_direction(Observations& observations, std::string_view direction, Findings& findings) {
  std::map<Bytes, Uncertain> singles;
  for (const Observation& o : observations.of(fmt::format("copy.pinned.{}", direction)))
    singles.emplace(o.bytes(), o.time);
  const std::vector<Observation> burst_points = observations.of(fmt::format("burst.pinned.{}", direction));
  const std::map<Bytes, Uncertain> bursts = burst_periods(burst_points);
  const std::string path = fmt::format("links[0].{}", direction);
  if (singles.empty() ||
      std::ranges::count_if(singles, [&](auto& s) { return s.first >= large_from(singles.rbegin()->first); }) < 2) {
    findings.missing.push_back(
        {path, fmt::format("not measured: needs verified points of copy.pinned.{} at two large sizes", direction)});
    return std::nullopt;
  }

  const Bytes from = large_from(singles.rbegin()->first);
  const Lines large = fit_lines(std::array{singles, bursts}, from, observations.sources());
  DirectionFit fit{.per_byte = large.slope, .rows = {}};
  std::map<Bytes, Uncertain> latencies;
  std::map<Bytes, Uncertain> gaps;
  for (const auto& [size, time] : singles)
    if (size < from) latencies.emplace(size, time - in_bytes(size) * fit.per_byte);
  for (const auto& [size, period] : bursts)
    if (size < from) gaps.emplace(size, period - in_bytes(size) * fit.per_byte);
  const Bytes first_large = singles.lower_bound(from)->first;
  latencies.emplace(first_large, *large.intercepts[0]);
  if (large.intercepts[1]) gaps.emplace(first_large, *large.intercepts[1]);
  if (gaps.empty()) {
    findings.missing.push_back(
        {path + ".costs.gap",
         fmt::format("not measured: needs verified points of burst.pinned.{}; assuming 0", direction)});
    gaps.emplace(first_large, Uncertain::exact(0));
  }
  std::vector<Bytes> sizes;
  for (const auto* column : {&latencies, &gaps})
    for (const auto& [size, cost] : *column) sizes.push_back(size);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const Bytes size : sizes) fit.rows.push_back({size, interpolate(latencies, size), interpolate(gaps, size)});

  // Compares the finished table with every point that it was fitted to.
  const DirectionModel model = direction_model(fit, std::nullopt);
  Residual line{path + ".per_byte", 0, ""};
  Residual costs{path + ".costs", 0, ""};
  const auto compare = [&](const Observation& o, double copies) {
    const CostAt cost = cost_at(model, o.bytes());
    const double fitted = cost.latency_overhead.count() + (copies - 1) * cost.gap.count() +
                          copies * in_bytes(o.bytes()) * model.per_byte.value.seconds;
    const std::string at = copies > 1 ? fmt::format("{} x {}", to_string(o.bytes()), copies) : to_string(o.bytes());
    keep_worst(o.bytes() >= from ? line : costs, fitted, o.time, at);
  };
  for (const Observation& o : observations.of(fmt::format("copy.pinned.{}", direction))) compare(o, 1);
  for (const Observation& o : burst_points) compare(o, o.argument("copies"));
  findings.residuals.push_back(line);
  findings.residuals.push_back(costs);
  return fit;
}

std::optional<LinkModel> fit_link(Observations& observations, Findings& findings) {
  Findings found;
  const auto to_device = fit_direction(observations, "h2d", found);
  const auto to_host = fit_direction(observations, "d2h", found);
  if (!to_device || !to_host) {
    std::string reason;
    for (const Missing& missing : found.missing)
      if (missing.parameter == "links[0].h2d" || missing.parameter == "links[0].d2h")
        reason += (reason.empty() ? "" : "; ") + missing.reason;
    findings.missing.push_back({"links", reason});
    return std::nullopt;
  }
  const auto duplex = fit_duplex(observations, *to_device, *to_host, found);
  for (Missing& missing : found.missing) findings.missing.push_back(std::move(missing));
  for (Residual& residual : found.residuals) findings.residuals.push_back(std::move(residual));
  LinkModel link{.numa_node = 0, .gpu = 0, .h2d = {}, .d2h = {}};
  link.h2d = direction_model(*to_device, duplex ? std::optional(duplex->first) : std::nullopt);
  link.d2h = direction_model(*to_host, duplex ? std::optional(duplex->second) : std::nullopt);
  link.h2d.batched = fit_batches(observations, "h2d", to_device->per_byte, findings);
  link.d2h.batched = fit_batches(observations, "d2h", to_host->per_byte, findings);
  link.waiting_streams = fit_waiting_streams(observations, findings);
  return link;
}

std::optional<unsigned> fit_stream_groups(const Observations& observations, const LinkModel& link, Findings& findings) {
  const auto unknown = [&](const char* why) -> std::optional<unsigned> {
    findings.missing.push_back({"gpus[0].stream_groups", why});
    return std::nullopt;
  };
  const std::vector<Observation> points = observations.of("order.streams");
  if (points.size() < 2) return unknown("not measured: needs verified points of order.streams");
  const Bytes size = points.front().bytes();
  const auto streams = static_cast<unsigned>(points.front().argument("streams"));
  const double copy_us = in_microseconds(size * link.h2d.per_byte.value + cost_at(link.h2d, size).gap);
  // Number of copies before that of the stream. It is slightly too high, because the timed kernel adds a handover.
  std::vector<double> before;
  for (const Observation& point : points)
    for (const double sample : figure_samples(*point.measurement)) before.push_back(sample / copy_us - 1);
  if (std::ranges::max(before) < first_of_all) return unknown("measured, but all streams seemed to be the first");
  // The first stream of a group comes after whole groups, no matter with which group the copy engine begins.
  for (unsigned of_a_group = streams / 2; of_a_group > 1; of_a_group /= 2) {
    const auto in_whole_groups = std::ranges::count_if(before, [&](double copies) {
      return std::abs(copies - of_a_group * std::round(copies / of_a_group)) <
             std::min(most_off, most_off_fraction * of_a_group);
    });
    if (static_cast<double>(in_whole_groups) >= enough_in_groups * static_cast<double>(before.size()))
      return streams / of_a_group;
  }
  return 1u;
}

}  // namespace shiplap
