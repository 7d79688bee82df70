// What the first copy of a queue costs a copy engine: m copies in both directions take T1 in one queue each and Tm in m
// queues each; Tm = T1 + (m - 1) · cost.
#include <map>

#include "shiplap/measure/fit.hpp"

namespace shiplap {

std::vector<FirstUse> fit_first_uses(Observations& observations, Findings& findings) {
  std::map<Bytes, std::map<double, Observation>> sizes;  // by number of queues
  for (const Observation& o : observations.of("queues.pinned"))
    sizes[Bytes{static_cast<std::uint64_t>(o.argument("bytes"))}].insert_or_assign(o.argument("queues"), o);
  std::vector<FirstUse> rows;
  for (const auto& [size, by_queues] : sizes) {
    if (by_queues.size() != 2 || by_queues.begin()->first != 1) continue;
    const Observation& each = by_queues.rbegin()->second;
    const Uncertain cost = (each.time - by_queues.begin()->second.time) / (each.argument("copies") - 1);
    rows.push_back({.size = size, .cost = non_negative<Seconds>(cost)});
  }
  if (rows.empty())
    findings.missing.push_back({"links[0].first_uses", "not measured: queues.pinned has no usable points"});
  return rows;
}

}  // namespace shiplap
