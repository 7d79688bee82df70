#include "shiplap/schedule/timeline_view.hpp"

#include <fmt/format.h>

#include <variant>

#include "shiplap/core/record.hpp"
#include "shiplap/schedule/names.hpp"

namespace shiplap {

Bytes bytes_of(const Op& op) {
  if (const auto* copy = std::get_if<Copy>(&op.what)) return copy->from.length;
  if (const auto* host = std::get_if<HostCopy>(&op.what)) return host->from.length;
  if (const auto* blocks = std::get_if<BlockCopy>(&op.what)) return blocks->packed.length;
  if (const auto* prefetch = std::get_if<Prefetch>(&op.what)) return prefetch->region.length;
  return {};
}

TimelineView timeline_view(const Schedule& schedule, const Timeline& timeline) {
  if (timeline.spans.empty() && !schedule.ops.empty())
    throw Error("the timeline has no times of single ops, so it cannot be drawn: run with a trace");
  if (timeline.spans.size() != schedule.ops.size())
    throw Error(fmt::format("a timeline of {} ops does not belong to a schedule of {} ops", timeline.spans.size(),
                            schedule.ops.size()));
  TimelineView ops;
  for (std::uint32_t i = 0; i < timeline.spans.size(); ++i)
    ops.push_back({describe(schedule, OpId{i}), timeline.spans[i], schedule.ops[i].chunk, bytes_of(schedule.ops[i])});
  return ops;
}

template <class V, Like<TimelineOp> R>
void describe(V& v, R& op) {
  v.field("op", op.name, "the op in words");
  v.field("engine", op.span.engine, "the engine that it keeps busy");
  v.field("chunk", op.chunk, "its chunk");
  v.field("bytes", op.bytes, "bytes that it moves");
  v.field("start", op.span.start, "when it started");
  v.field("end", op.span.end, "when it ended");
}

Json to_json(const TimelineOp& op) { return write_record(op); }
void from_json(const JsonReader& json, TimelineOp& op) {
  constexpr Seconds longest{24 * 3600.0};
  constexpr std::uint64_t most_bytes = 1ull << 50;  // sums over many ops stay numbers of 64 bits
  read_record(json, op);
  if (op.span.end > longest) json.at("end").fail("a time of at most a day");
  if (op.span.end < op.span.start) json.at("end").fail("a time that is not before the start");
  if (op.bytes.count > most_bytes) json.at("bytes").fail("at most 1 PiB");
}
Json json_schema(const TimelineOp&) { return schema_of<TimelineOp>(); }

}  // namespace shiplap
