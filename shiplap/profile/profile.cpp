#include "shiplap/profile/profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "shiplap/core/json.hpp"
#include "shiplap/profile/built_in.hpp"
#include "shiplap/profile/enum_names.hpp"

namespace shiplap {
namespace {

/// Interpolates a column linearly in the size, and constantly outside the rows. At the size of a row the result is
/// exactly that of the row.
template <class Row>
Seconds at_size(const std::vector<Row>& rows, Bytes size, Interval<Seconds> Row::*column) {
  const auto upper =
      std::lower_bound(rows.begin(), rows.end(), size, [](const Row& row, Bytes s) { return row.size < s; });
  if (upper == rows.end()) return (rows.back().*column).value;
  const Seconds right = ((*upper).*column).value;
  if (upper == rows.begin() || upper->size == size) return right;
  const Row& lower = *(upper - 1);
  const Seconds left = (lower.*column).value;
  const double fraction = in_bytes(size - lower.size) / in_bytes(upper->size - lower.size);
  return left + (right - left) * fraction;
}

bool looks_like_path(std::string_view text) { return text.find('/') != text.npos || text.ends_with(".json"); }

}  // namespace

std::string to_string(Origin origin) { return std::string(enum_name(origin)); }

std::string kebab_case(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      out += upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

const LinkModel* Profile::find_link(std::uint16_t gpu, std::uint16_t numa_node) const {
  const auto found = std::ranges::find_if(links, [&](const LinkModel& candidate) {
    return candidate.gpu == gpu && (numa_node == any_numa_node || candidate.numa_node == numa_node);
  });
  return found == links.end() ? nullptr : &*found;
}

const LinkModel& Profile::link(std::uint16_t gpu, std::uint16_t numa_node) const {
  if (const LinkModel* const found = find_link(gpu, numa_node)) return *found;
  std::vector<std::string> known;
  for (const LinkModel& candidate : links)
    known.push_back(fmt::format("NUMA node {} to GPU {}", candidate.numa_node, candidate.gpu));
  for (const Missing& m : missing)
    if (m.parameter == "links")
      throw Unsupported(
          fmt::format("profile '{}' has no link ({}): state one with `link`, as in pcie3 or the name of a profile",
                      name, m.reason));
  throw Unsupported(
      fmt::format("profile '{}' has no link between {} and GPU {} (it has: {}); measure that pair, or "
                  "place the data where the profile has a link",
                  name, numa_node == any_numa_node ? "the host" : fmt::format("host NUMA node {}", numa_node), gpu,
                  known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

std::vector<std::string> built_in_profiles() {
  std::vector<std::string> names;
  for (const BuiltInProfile& profile : built_in_profile_texts()) names.emplace_back(profile.name);
  return names;
}

Profile find_profile(std::string_view name_or_path) {
  for (const BuiltInProfile& profile : built_in_profile_texts()) {
    if (profile.name != name_or_path) continue;
    const std::string source = fmt::format("built-in profile '{}'", profile.name);
    return profile_from_json(parse_json(profile.json, source), source);
  }
  if (looks_like_path(name_or_path)) return load_profile(std::string(name_or_path));
  throw UsageError(fmt::format(
      "there is no built-in profile '{}'; built-in are: {}. The path of a profile file contains '/' or ends with .json",
      name_or_path, fmt::join(built_in_profiles(), ", ")));
}

CostAt cost_at(const DirectionModel& direction, Bytes size) {
  if (direction.costs.empty()) throw Error("the profile has no costs for this direction of copy; measure the link");
  return {.latency_overhead = at_size(direction.costs, size, &CopyCost::latency_overhead),
          .gap = at_size(direction.costs, size, &CopyCost::gap)};
}

namespace {

/// The value at x of the power law through (below, low) and (above, high). When one of the two values is 0, it is
/// interpolated over the logarithm of x instead.
double interpolate_power_law(double x, double below, double low, double above, double high) {
  const double fraction = std::log(x / below) / std::log(above / below);
  return low > 0 && high > 0 ? low * std::pow(high / low, fraction) : std::lerp(low, high, fraction);
}

/// Interpolates rows that increase in `in_flight`. Outside the rows the value is that of the nearest row.
template <class Row>
double at_in_flight(std::span<const Row> rows, double in_flight, Interval<Bandwidth> Row::*column) {
  const auto value = [&](const Row& row) { return (row.*column).value.bytes_per_second; };
  const auto above = std::ranges::find_if(rows, [&](const Row& row) { return in_bytes(row.in_flight) >= in_flight; });
  if (above == rows.begin()) return value(rows.front());
  if (above == rows.end()) return value(rows.back());
  const Row& below = *std::prev(above);
  return interpolate_power_law(in_flight, in_bytes(below.in_flight), value(below), in_bytes(above->in_flight),
                               value(*above));
}

/// The factor that makes a rate proportional to the bytes in flight below the first row.
template <class Row>
double low_flight_factor(std::span<const Row> rows, double in_flight) {
  return std::min(1.0, in_flight / in_bytes(rows.front().in_flight));
}

}  // namespace

Bandwidth rate_at(const std::vector<ZeroCopyRate>& rows, double in_flight) {
  return {at_in_flight(std::span(rows), in_flight, &ZeroCopyRate::rate) *
          low_flight_factor(std::span(rows), in_flight)};
}
Bandwidth kernel_rate_at(const std::vector<ZeroCopyBeside>& rows, double in_flight) {
  return {at_in_flight(std::span(rows), in_flight, &ZeroCopyBeside::kernel) *
          low_flight_factor(std::span(rows), in_flight)};
}
Bandwidth copy_rate_at(const std::vector<ZeroCopyBeside>& rows, double in_flight) {
  return {at_in_flight(std::span(rows), in_flight, &ZeroCopyBeside::copy)};
}

std::string condition(const Conditions& conditions, const std::string& name) {
  const auto found = conditions.find(name);
  return found == conditions.end() ? unknown_fact : found->second;
}

Seconds time_at(const std::vector<TimeAt>& rows, Bytes size) {
  if (rows.empty()) throw Error("a table of times has no row; measure the node");
  const auto seconds = [](const TimeAt& row) { return row.time.value.count(); };
  const auto above = std::ranges::find_if(rows, [&](const TimeAt& row) { return row.size >= size; });
  if (above == rows.begin()) return rows.front().time.value;
  if (above == rows.end()) return rows.back().time.value * (in_bytes(size) / in_bytes(rows.back().size));
  const TimeAt& below = *std::prev(above);
  if (seconds(below) <= 0 || seconds(*above) <= 0) return above->time.value;
  return Seconds{interpolate_power_law(in_bytes(size), in_bytes(below.size), seconds(below), in_bytes(above->size),
                                       seconds(*above))};
}

Bandwidth rate_of(const std::vector<RateOfThreads>& rows, unsigned threads) {
  if (rows.empty()) throw Error("the profile has no rates of host threads; measure the node");
  const auto above = std::ranges::find_if(rows, [&](const RateOfThreads& row) { return row.threads >= threads; });
  if (above == rows.begin()) return rows.front().rate.value;
  if (above == rows.end()) return rows.back().rate.value;
  const RateOfThreads& below = *std::prev(above);
  const double fraction = static_cast<double>(threads - below.threads) / (above->threads - below.threads);
  return {(1 - fraction) * below.rate.value.bytes_per_second + fraction * above->rate.value.bytes_per_second};
}

std::vector<RateOfThreads> staging_rates(const HostModel& host, Bytes rings) {
  if (host.staging.empty()) return host.copy;
  const auto between = [](const Interval<Bandwidth>& a, const Interval<Bandwidth>& b, double fraction) {
    const auto mean = [&](Bandwidth x, Bandwidth y) {
      return Bandwidth{(1 - fraction) * x.bytes_per_second + fraction * y.bytes_per_second};
    };
    return Interval<Bandwidth>{mean(a.value, b.value), mean(a.low, b.low), mean(a.high, b.high)};
  };
  std::vector<RateOfThreads> rates;
  for (auto row = host.staging.begin(); row != host.staging.end();) {
    const auto end = std::find_if(row, host.staging.end(), [&](const auto& r) { return r.threads != row->threads; });
    const auto above = std::find_if(row, end, [&](const auto& r) { return r.rings >= rings; });
    if (above == row || above == end) {
      rates.push_back({row->threads, above == row ? row->rate : std::prev(end)->rate});
    } else {
      const RateThroughRings& below = *std::prev(above);
      const double fraction =
          std::log(in_bytes(rings) / in_bytes(below.rings)) / std::log(in_bytes(above->rings) / in_bytes(below.rings));
      rates.push_back({row->threads, between(below.rate, above->rate, fraction)});
    }
    row = end;
  }
  return rates;
}

Seconds just_written_delay(const HostModel& host, Bytes size) {
  if (host.written.empty()) return Seconds{0};
  const GapAt& first = host.written.front();
  if (size >= first.size) return gap_at(host.written, size);
  return first.gap.value * (in_bytes(size) / in_bytes(first.size));
}

std::span<const double> figure_samples(const Measurement& m) {
  const std::span<const double> all = m.samples_us;
  if (m.visits < 2 || all.size() < 2) return all;
  const auto first = all.first(all.size() / 2);
  const auto second = all.subspan(all.size() / 2);
  const Estimate a = median_estimate(first);
  const Estimate b = median_estimate(second);
  if (a.high < b.low) return first;
  if (b.high < a.low) return second;
  return all;
}

Seconds gap_at(const std::vector<GapAt>& rows, Bytes size) {
  if (rows.empty()) throw Error("a table of gaps has no row; measure the link");
  return at_size(rows, size, &GapAt::gap);
}

Seconds duplex_gap_at(const DirectionModel& direction, Bytes size) {
  if (!direction.duplex || direction.duplex->gaps.empty()) return cost_at(direction, size).gap;
  return gap_at(direction.duplex->gaps, size);
}

bool knows_zero_copy(const LinkModel& link) {
  return link.zero_copy && !link.zero_copy->read.empty() && !link.zero_copy->write.empty() &&
         !link.zero_copy->both.empty();
}

}  // namespace shiplap
