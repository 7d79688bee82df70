// Links to further NUMA nodes of the host. They are measured at fewer points, so parameters that do not depend on the
// node are those of the first link.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "shiplap/measure/fit.hpp"

namespace shiplap {
namespace {

using BySize = std::map<Bytes, Uncertain>;

BySize times_on_node(const Observations& observations, const std::string& primitive, std::uint16_t node) {
  BySize times;
  for (const Observation& o : observations.of(primitive))
    if (o.argument("node") == node) times.emplace(o.bytes(), o.time);
  return times;
}

/// Fits G from the two largest copies and L+o as the rest of each time; nullopt with fewer than two copies.
std::optional<DirectionModel> direction_of_node(const BySize& times, const DirectionModel& near) {
  if (times.size() < 2) return std::nullopt;
  const auto& [large, long_time] = *times.rbegin();
  const auto& [small, short_time] = *std::next(times.rbegin());
  const Uncertain per_byte = (long_time - short_time) / in_bytes(large - small);
  if (per_byte.estimate().low <= 0) return std::nullopt;
  DirectionModel model;
  model.per_byte = non_negative<PerByte>(per_byte);
  for (const auto& [size, time] : times) {
    if (size == large) continue;  // equal to the row before by construction
    model.costs.push_back({.size = size,
                           .latency_overhead = non_negative<Seconds>(time - in_bytes(size) * per_byte),
                           .gap = Interval<Seconds>::exact(cost_at(near, size).gap)});
  }
  return model;
}

std::vector<TimeAt> time_table(const BySize& times) {
  std::vector<TimeAt> rows;
  for (const auto& [size, time] : times) rows.push_back({size, non_negative<Seconds>(time)});
  return rows;
}

}  // namespace

std::vector<LinkModel> fit_numa(Observations& observations, const LinkModel& near, Findings& findings) {
  std::set<std::uint16_t> nodes;
  for (const Observation& o : observations.of("numa.copy.pinned.h2d"))
    nodes.insert(static_cast<std::uint16_t>(o.argument("node")));
  nodes.erase(near.numa_node);
  std::vector<LinkModel> links;
  for (const std::uint16_t node : nodes) {
    const auto to_device = direction_of_node(times_on_node(observations, "numa.copy.pinned.h2d", node), near.h2d);
    const auto to_host = direction_of_node(times_on_node(observations, "numa.copy.pinned.d2h", node), near.d2h);
    if (!to_device || !to_host) {
      findings.missing.push_back(
          {fmt::format("the link of NUMA node {}", node),
           "not measured: needs verified points of numa.copy.pinned.h2d and .d2h at two sizes whose times differ"});
      continue;
    }
    LinkModel link{.numa_node = node, .gpu = near.gpu, .h2d = *to_device, .d2h = *to_host};
    const std::string path = fmt::format("links[{}]", links.size() + 1);
    const auto missing = [&](const char* what, const char* reason) {
      findings.missing.push_back({fmt::format("{}.{}", path, what), reason});
    };
    PageableModel pageable{.h2d = time_table(times_on_node(observations, "numa.copy.pageable.h2d", node)),
                           .d2h = time_table(times_on_node(observations, "numa.copy.pageable.d2h", node)),
                           .both = time_table(times_on_node(observations, "numa.copy.pageable.both", node))};
    const char* not_measured = "not measured: needs verified points of numa.copy.pageable.*";
    if (!pageable.h2d.empty() && !pageable.d2h.empty()) {
      if (pageable.both.empty()) missing("pageable.both", not_measured);
      link.pageable = std::move(pageable);
    } else {
      missing("pageable", not_measured);
    }
    for (const char* what : {"h2d.duplex", "h2d.batched", "d2h.duplex", "d2h.batched", "waiting_streams", "zero_copy"})
      missing(what, "measured for the first NUMA node only; assuming no such effect for this node");
    missing("blocks", "measured for the first NUMA node only");
    missing("managed", "the driver chooses where managed memory is on the host");
    links.push_back(std::move(link));
  }
  return links;
}

}  // namespace shiplap
