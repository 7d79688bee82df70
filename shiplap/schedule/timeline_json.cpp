#include "shiplap/schedule/timeline_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <variant>

#include "shiplap/core/error.hpp"
#include "shiplap/core/quantity_json.hpp"

namespace shiplap {

Bytes bytes_of(const Op& op) {
  if (const auto* copy = std::get_if<Copy>(&op.what)) return copy->from.length;
  if (const auto* host = std::get_if<HostCopy>(&op.what)) return host->from.length;
  if (const auto* blocks = std::get_if<BlockCopy>(&op.what)) return blocks->packed.length;
  if (const auto* prefetch = std::get_if<Prefetch>(&op.what)) return prefetch->region.length;
  return {};
}

Json timeline_json(const Schedule& schedule, const Timeline& timeline) {
  if (timeline.spans.size() != schedule.ops.size())
    throw Error(fmt::format("a timeline of {} ops does not belong to a schedule of {} ops", timeline.spans.size(),
                            schedule.ops.size()));
  Json ops = Json::array();
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    const Span& span = timeline.spans[i];
    ops.push_back({{"op", describe(schedule, OpId{static_cast<std::uint32_t>(i)})},
                   {"engine", to_string(span.engine)},
                   {"chunk", schedule.ops[i].chunk},
                   {"bytes", quantity_json(bytes_of(schedule.ops[i]))},
                   {"start", quantity_json(span.start)},
                   {"end", quantity_json(span.end)}});
  }
  return ops;
}

}  // namespace shiplap
