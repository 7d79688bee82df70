#include "shiplap/profile/profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "shiplap/core/interpolation.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/made_once.hpp"
#include "shiplap/core/spelling.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/profile/built_in.hpp"
#include "shiplap/profile/derived.hpp"
#include "shiplap/profile/enum_names.hpp"
#include "shiplap/profile/gpu_facts.hpp"

namespace shiplap {
namespace {

/// Interpolates a column linearly in the size, and constantly outside the rows. At the size of a row the result is
/// exactly that of the row.
template <class Row>
Seconds at_size(const std::vector<Row>& rows, Bytes size, Interval<Seconds> Row::*column) {
  const auto [low, high] = neighbours(rows, in_bytes(size), [](const Row& row) { return in_bytes(row.size); });
  const Seconds right = ((*high).*column).value;
  if (low == high || high->size == size) return right;
  return on_line(((*low).*column).value, right, in_bytes(size - low->size) / in_bytes(high->size - low->size));
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
          fmt::format("profile '{}' has no link ({}): state one with `with_link`, as in pcie3 or the name of a profile",
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

namespace {

/// A built-in profile, which is read once in a process: the text of the largest has half a megabyte.
const Profile& read_once(const BuiltInProfile& profile) {
  static auto& read = *new MadeOnce<Profile>;  // never destroyed: threads may ask at the end
  return read.at(profile.name, [&] {
    const std::string source = fmt::format("built-in profile '{}'", profile.name);
    return profile_from_json(parse_json(profile.json, source), source);
  });
}

/// "did you mean rtx-4090? " for the number of a GPU without the words before it; "" when no few names contain it.
std::string names_that_contain(const std::string& part, std::vector<std::string> names) {
  constexpr std::size_t least = 2;
  constexpr std::size_t most = 4;
  std::erase_if(names, [&](const std::string& name) { return name.find(part) == name.npos; });
  if (part.size() < least || names.empty() || names.size() > most) return "";
  return fmt::format("did you mean {}? ", fmt::join(names, " or "));
}

}  // namespace

Profile find_profile(std::string_view name_or_path) {
  const std::string plain = kebab_case(name_or_path);  // "H200" is h200
  for (const BuiltInProfile& profile : built_in_profile_texts())
    if (profile.name == name_or_path || profile.name == plain) return read_once(profile);
  if (looks_like_path(name_or_path)) return load_profile(std::string(name_or_path));
  if (std::optional<Profile> known = known_profile_of(name_or_path)) return *std::move(known);
  std::vector<std::string> names = built_in_profiles();
  for (const std::string& gpu : published_gpu_names()) names.push_back(kebab_case(gpu));
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());  // a measured GPU is published, too
  const auto begins = [&](const std::string& name) { return !plain.empty() && name.starts_with(plain); };
  if (std::ranges::any_of(names, begins)) std::erase_if(names, [&](const std::string& name) { return !begins(name); });
  std::string meant = did_you_mean(plain, names);
  if (meant.empty()) meant = names_that_contain(plain, names);
  throw UsageError(
      fmt::format("there is no built-in profile '{}'; {}built-in are: {}; other GPUs are known by their names, as "
                  "\"RTX 4090\" (shiplap profiles --all). The path of a profile file contains '/' or ends with .json",
                  name_or_path, meant, fmt::join(built_in_profiles(), ", ")));
}

std::optional<Profile> built_in_profile_of(std::string_view gpu) {
  for (const BuiltInProfile& built_in : built_in_profile_texts()) {
    const Profile& profile = read_once(built_in);
    if (!profile.gpus.empty() && profile.gpus.front().name == gpu) return profile;
  }
  return std::nullopt;
}

CostAt cost_at(const DirectionModel& direction, Bytes size) {
  if (direction.costs.empty()) throw Error("the profile has no costs for this direction of copy; measure the link");
  return {.latency_overhead = at_size(direction.costs, size, &CopyCost::latency_overhead),
          .gap = at_size(direction.costs, size, &CopyCost::gap)};
}

namespace {

/// Interpolates rows that increase in `in_flight`. Outside the rows the value is that of the nearest row.
template <class Row>
double at_in_flight(const std::vector<Row>& rows, double in_flight, Interval<Bandwidth> Row::*column) {
  const auto value = [&](const Row& row) { return (row.*column).value.bytes_per_second; };
  const auto key = [](const Row& row) { return in_bytes(row.in_flight); };
  const auto [low, high] = neighbours(rows, in_flight, key);
  return low == high ? value(*low) : on_power_law(in_flight, key(*low), value(*low), key(*high), value(*high));
}

/// The factor that makes a rate proportional to the bytes in flight below the first row.
template <class Row>
double low_flight_factor(const std::vector<Row>& rows, double in_flight) {
  return std::min(1.0, in_flight / in_bytes(rows.front().in_flight));
}

}  // namespace

Bandwidth rate_at(const std::vector<ZeroCopyRate>& rows, double in_flight) {
  return {at_in_flight(rows, in_flight, &ZeroCopyRate::rate) * low_flight_factor(rows, in_flight)};
}
Bandwidth kernel_rate_at(const std::vector<ZeroCopyBeside>& rows, double in_flight) {
  return {at_in_flight(rows, in_flight, &ZeroCopyBeside::kernel) * low_flight_factor(rows, in_flight)};
}
Bandwidth copy_rate_at(const std::vector<ZeroCopyBeside>& rows, double in_flight) {
  return {at_in_flight(rows, in_flight, &ZeroCopyBeside::copy)};
}

std::string condition(const Conditions& conditions, const std::string& name) {
  const auto found = conditions.find(name);
  return found == conditions.end() ? unknown_fact : found->second;
}

Seconds time_at(const std::vector<TimeAt>& rows, Bytes size) {
  if (rows.empty()) throw Error("a table of times has no row; measure the node");
  const auto seconds = [](const TimeAt& row) { return row.time.value.count(); };
  const auto key = [](const TimeAt& row) { return in_bytes(row.size); };
  const double x = in_bytes(size);
  const auto [low, high] = neighbours(rows, x, key);
  if (size > rows.back().size) return high->time.value * (x / key(*high));
  if (low == high || seconds(*low) <= 0 || seconds(*high) <= 0) return high->time.value;
  return Seconds{on_power_law(x, key(*low), seconds(*low), key(*high), seconds(*high))};
}

namespace {
/// The rate at `part` of the way from a to b.
Bandwidth mixed_rate(Bandwidth a, Bandwidth b, double part) {
  return {(1 - part) * a.bytes_per_second + part * b.bytes_per_second};
}
}  // namespace

Bandwidth rate_of(const std::vector<RateOfThreads>& rows, unsigned threads) {
  if (rows.empty()) throw Error("the profile has no rates of host threads; measure the node");
  const auto [low, high] = neighbours(rows, threads, [](const RateOfThreads& row) { return double(row.threads); });
  if (low == high) return low->rate.value;
  return mixed_rate(low->rate.value, high->rate.value,
                    static_cast<double>(threads - low->threads) / (high->threads - low->threads));
}

std::vector<RateOfThreads> staging_rates(const HostModel& host, Bytes rings) {
  if (host.staging.empty()) return host.copy;
  std::vector<RateOfThreads> rates;
  for (auto row = host.staging.begin(); row != host.staging.end();) {
    const auto end = std::find_if(row, host.staging.end(), [&](const auto& r) { return r.threads != row->threads; });
    const auto key = [](const RateThroughRings& r) { return in_bytes(r.rings); };
    const auto [low, high] = neighbours(std::span<const RateThroughRings>(row, end), in_bytes(rings), key);
    const double part = low == high ? 0 : std::log(in_bytes(rings) / key(*low)) / std::log(key(*high) / key(*low));
    const Interval<Bandwidth>& a = low->rate;
    const Interval<Bandwidth>& b = high->rate;
    rates.push_back(
        {row->threads,
         {mixed_rate(a.value, b.value, part), mixed_rate(a.low, b.low, part), mixed_rate(a.high, b.high, part)}});
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

Seconds least_latency(const LinkModel& link) {
  Seconds least{std::numeric_limits<double>::max()};
  for (const DirectionModel* direction : {&link.h2d, &link.d2h})
    for (const CopyCost& cost : direction->costs) least = std::min(least, cost.latency_overhead.low);
  return least;
}

}  // namespace shiplap
