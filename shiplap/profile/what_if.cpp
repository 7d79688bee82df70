#include "shiplap/profile/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/link_rows.hpp"
#include "shiplap/profile/parameter_table.hpp"
#include "shiplap/profile/topology.hpp"
#include "shiplap/profile/variation.hpp"

namespace shiplap {
namespace {

constexpr std::string_view link_prefix = "link=";
/// The profile with the only PCIe link of which a paper published L+o, G and g.
constexpr std::string_view published_link = "gtx-titan-2014";

[[noreturn]] void refuse(std::string_view what) {
  throw UsageError(fmt::format(
      "`what_if` {}: expected link=pcie1 to link=pcie6, a number of lanes as in link=x8, or a factor from 0.001 to "
      "1000 as in link=0.5",
      what));
}

struct Link {
  double transfers = 0;  ///< GT/s
  unsigned lanes = 0;
  std::string text() const { return fmt::format("{:.1f} GT/s PCIe x{}", transfers, lanes); }
};

std::optional<Link> parse_link(const std::string& text) {
  Link link;
  if (std::sscanf(text.c_str(), "%lf GT/s PCIe x%u", &link.transfers, &link.lanes) != 2) return std::nullopt;
  return link;
}

/// The transfers per second and lane of a generation such as "pcie2", in GT/s; nullopt for any other name.
std::optional<double> transfers_of(std::string_view generation) {
  static const std::map<std::string_view, double> generations{{"pcie1", 2.5}, {"pcie2", 5},  {"pcie3", 8},
                                                              {"pcie4", 16},  {"pcie5", 32}, {"pcie6", 64}};
  const auto found = generations.find(generation);
  return found == generations.end() ? std::nullopt : std::optional(found->second);
}

/// The link that is asked for by name; nullopt for a factor.
std::optional<Link> named(std::string_view wanted, Link now) {
  if (const auto transfers = transfers_of(wanted)) {
    now.transfers = *transfers;
    return now;
  }
  for (const unsigned lanes : {1u, 2u, 4u, 8u, 16u})
    if (wanted == fmt::format("x{}", lanes)) {
      now.lanes = lanes;
      return now;
    }
  return std::nullopt;
}

std::optional<double> factor(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0.001 && value <= 1000))
    return std::nullopt;
  return value;
}

/// The fractions of a link's limit that copies of pinned memory reach.
struct LinkFractions {
  double h2d = 1;
  double d2h = 1;
};
LinkFractions link_fractions(const Profile& profile) {
  const double limit = pcie_link_rate(condition(profile.conditions, "gpu.link"));
  if (limit <= 0) return link_fractions(find_profile(published_link));
  const LinkModel& link = profile.links.front();
  const auto fraction = [&](const DirectionModel& direction) {
    return std::min(1.0, bandwidth(direction.per_byte.value).bytes_per_second / limit);
  };
  return {fraction(link.h2d), fraction(link.d2h)};
}

// Rates become as uncertain as the fraction of the limit that they reach. The fast end is the link's limit.
void widen(Interval<PerByte>& per_byte, double fraction) {
  per_byte.low.seconds = std::min(per_byte.low.seconds, per_byte.value.seconds * fraction);
  per_byte.high.seconds = std::max(per_byte.high.seconds, per_byte.value.seconds / fraction);
}
void widen(Interval<Bandwidth>& rate, double fraction) {
  rate.low.bytes_per_second = std::min(rate.low.bytes_per_second, rate.value.bytes_per_second * fraction);
  rate.high.bytes_per_second = std::max(rate.high.bytes_per_second, rate.value.bytes_per_second / fraction);
}
template <class T>
void widen(Interval<T>&, double) {}  // fixed costs and numbers do not depend on the rate of the link

void widen_rates(Profile& profile, const LinkFractions& fractions) {
  for_each_parameter(profile, [&](const ParameterInfo& info, auto& interval) {
    const CostTerm term = info.tag.term;
    if (term == CostTerm::h2d_rate) widen(interval, fractions.h2d);
    if (term == CostTerm::d2h_rate) widen(interval, fractions.d2h);
    if (term == CostTerm::zero_copy_rate || term == CostTerm::both_rates)
      widen(interval, std::min(fractions.h2d, fractions.d2h));
  });
}

/// Times that the CPU limits: copies of pinned memory, whose new G is `copies`, are a lower limit. The interval holds
/// the time as it was and the time in proportion to the link.
void limit_by_link(std::vector<TimeAt>& rows, double faster, PerByte copies) {
  for (auto& [size, time] : rows) {
    time.low = std::min(time.low, time.low / faster);
    time.high = std::max(time.high, time.high / faster);
    time.value = std::clamp(std::max(time.value, size * copies), time.low, time.high);
  }
}
void limit_by_link(std::vector<RateOfThreads>& rows, double faster, PerByte copies) {
  for (auto& [threads, rate] : rows) {
    const auto scaled = [&](Bandwidth b) { return Bandwidth{b.bytes_per_second * faster}; };
    rate.low = std::min(rate.low, scaled(rate.low));
    rate.high = std::max(rate.high, scaled(rate.high));
    rate.value = std::clamp(std::min(rate.value, bandwidth(copies)), rate.low, rate.high);
  }
}

void limit_by_link(LinkModel& link, double faster) {
  for_each_unpinned(
      link, [faster](auto& rows, const DirectionModel& pinned) { limit_by_link(rows, faster, pinned.per_byte.value); });
}

/// Removes the times of scattered blocks, and the reasons that named absent ones among them.
void forget_blocks(Profile& profile) {
  for (std::size_t i = 0; i < profile.links.size(); ++i) {
    const std::string path = fmt::format("links[{}].blocks", i);
    if (!profile.links[i].blocks) continue;
    profile.links[i].blocks.reset();
    std::erase_if(profile.missing, [&](const Missing& m) { return m.parameter.starts_with(path + "."); });
    profile.missing.push_back({path, "only whole times were measured, which do not follow from another link"});
  }
}

/// The conditions and the factor of the bandwidth of the profile with the wanted link.
std::pair<Conditions, double> scaled_link(const Profile& profile, std::string_view wanted, std::string_view what) {
  Conditions conditions = profile.conditions;
  conditions.erase("gpu.link_loaded");
  if (const auto plain = factor(wanted)) {
    conditions.erase("gpu.link");
    return {std::move(conditions), *plain};
  }
  if (!named(wanted, {1, 1})) refuse(what);
  const std::string is = condition(profile.conditions, "gpu.link");
  const auto now = parse_link(is);
  if (!now)
    throw Unsupported(
        fmt::format("`what_if` {}: profile {} does not say which link it has (gpu.link); give a factor as in link=0.5",
                    what, profile.name));
  const std::string then = named(wanted, *now)->text();
  conditions["gpu.link"] = then;
  return {std::move(conditions), pcie_link_rate(then) / pcie_link_rate(is)};
}

}  // namespace

Profile what_if(const Profile& profile, std::string_view what) {
  if (!what.starts_with(link_prefix)) refuse(what);
  if (profile.links.empty())
    throw Unsupported(
        fmt::format("`what_if` {}: profile {} has no link to scale: state one with `with_link`", what, profile.name));
  auto [conditions, faster] = scaled_link(profile, what.substr(link_prefix.size()), what);
  Profile result = profile;
  for (const CostTerm term : {CostTerm::h2d_rate, CostTerm::d2h_rate, CostTerm::zero_copy_rate})
    result = slowed(result, term, 1 / faster);
  // What several GPUs share does not follow the links, unless it is the sum of these, which is exact.
  for (std::size_t i = 0; i < result.shared.size(); ++i)
    for (const auto rate : {&SharedRates::h2d, &SharedRates::d2h, &SharedRates::both})
      if (const Interval<Bandwidth>& measured = profile.shared[i].*rate; measured.low < measured.high)
        result.shared[i].*rate = measured;
  widen_rates(result, link_fractions(profile));
  for (LinkModel& link : result.links) limit_by_link(link, faster);
  result.name = fmt::format("{}, assumed {}", profile.name, what);
  result.origin = Origin::assumed;
  result.source = fmt::format("assumed from profile {} ({}): {}, times per byte over the link divided by {:.4g}",
                              profile.name, parameter_hash(profile), what, faster);
  result.conditions = std::move(conditions);
  result.missing = profile.missing;
  forget_blocks(result);
  return result;
}

namespace {

/// The profile whose link is taken. Throws UsageError that says what may be given.
Profile find_donor(std::string_view what) {
  if (transfers_of(what)) return what_if(find_profile(published_link), std::string(link_prefix) + std::string(what));
  try {
    return find_profile(what);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("`with_link` {}: expected pcie1 to pcie6 or a profile; {}", what, error.what()));
  }
}

}  // namespace

Profile with_link(const Profile& profile, std::string_view what) {
  if (!profile.links.empty())
    throw UsageError(
        fmt::format("`with_link` {}: profile {} has a link: change it with `what_if`", what, profile.name));
  const Profile donor = find_donor(what);
  const LinkModel& link = donor.link(0);
  Profile result = profile;
  result.links = {{.h2d = link.h2d, .d2h = link.d2h}};
  widen_rates(result, link_fractions(donor));  // a scaled link is as wide already
  result.name = fmt::format("{}, assumed link {}", profile.name, what);
  result.origin = Origin::assumed;
  result.source = fmt::format("{} The link is assumed: that of profile {} ({}).", profile.source, donor.name,
                              parameter_hash(donor));
  if (const auto found = donor.conditions.find("gpu.link"); found != donor.conditions.end())
    result.conditions.insert_or_assign("gpu.link", found->second);
  std::erase_if(result.missing, [](const Missing& m) { return m.parameter == "links"; });
  result.missing.push_back({"links[0]", "the link is assumed, and its copies of pinned memory alone"});
  return result;
}

}  // namespace shiplap
