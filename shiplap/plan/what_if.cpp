#include "shiplap/plan/what_if.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/variation.hpp"
#include "shiplap/profile/topology.hpp"

namespace shiplap {
namespace {

constexpr std::string_view prefix = "link=";

[[noreturn]] void refuse(std::string_view what) {
  throw UsageError(fmt::format(
      "`scale` {}: expected link=pcie3 to link=pcie6, a number of lanes as in link=x8, or a factor from 0.001 to "
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

/// The link that is asked for by name; nullopt for a factor.
std::optional<Link> named(std::string_view wanted, Link now) {
  static const std::map<std::string_view, double> generations{
      {"pcie3", 8}, {"pcie4", 16}, {"pcie5", 32}, {"pcie6", 64}};
  if (const auto found = generations.find(wanted); found != generations.end()) {
    now.transfers = found->second;
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

}  // namespace

Profile what_if(const Profile& profile, std::string_view what) {
  if (!what.starts_with(prefix)) refuse(what);
  const std::string_view wanted = what.substr(prefix.size());
  Conditions conditions = profile.conditions;
  double faster = 0;
  if (const auto plain = factor(wanted)) {
    faster = *plain;
    conditions.erase("gpu.link");
  } else {
    const std::string is = condition(profile.conditions, "gpu.link");
    const auto now = parse_link(is);
    if (!named(wanted, {1, 1})) refuse(what);
    if (!now)
      throw Unsupported(
          fmt::format("`scale` {}: profile {} does not say which link it has (gpu.link); give a factor as in link=0.5",
                      what, profile.name));
    const Link then = *named(wanted, *now);
    faster = pcie_link_rate(then.text()) / pcie_link_rate(is);
    conditions["gpu.link"] = then.text();
  }
  conditions.erase("gpu.link_loaded");

  Profile result = profile;
  for (const CostTerm term : {CostTerm::h2d_rate, CostTerm::d2h_rate, CostTerm::zero_copy_rate})
    result = slowed(result, term, 1 / faster);
  result.name = fmt::format("{}, {}", profile.name, what);
  result.origin = Origin::derived;
  result.source = fmt::format("derived from profile {} ({}): {}, times per byte over the link divided by {:.4g}",
                              profile.name, parameter_hash(profile), what, faster);
  result.conditions = std::move(conditions);
  result.missing = profile.missing;
  for (std::size_t i = 0; i < result.links.size(); ++i) {
    const auto forget = [&](auto& model, const char* name, const char* reason) {
      if (!model) return;
      model.reset();
      result.missing.push_back({fmt::format("links[{}].{}", i, name), reason});
    };
    const char* by_cpu = "the CPU limits it, so it does not follow from another link";
    forget(result.links[i].pageable, "pageable", by_cpu);
    forget(result.links[i].managed, "managed", by_cpu);
    forget(result.links[i].blocks, "blocks", "only whole times were measured, which do not follow from another link");
  }
  std::erase_if(result.missing, [&](const Missing& m) {
    for (std::size_t i = 0; i < result.links.size(); ++i)
      for (const char* name : {"pageable.", "managed.", "blocks."})
        if (m.parameter.starts_with(fmt::format("links[{}].{}", i, name))) return true;
    return false;
  });
  return result;
}

}  // namespace shiplap
