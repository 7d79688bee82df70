#include "shiplap/report/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "shiplap/report/rows.hpp"

namespace shiplap {
namespace {

constexpr int first_stream_track = 1000;  // larger than the tracks of all engines

Json metadata(const char* what, int process, int track, Json arguments) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", track}, {"args", std::move(arguments)}};
}

void name_track(Json& events, int process, int track, const std::string& name) {
  events.push_back(metadata("thread_name", process, track, {{"name", name}}));
  events.push_back(metadata("thread_sort_index", process, track, {{"sort_index", track}}));
}

Json event(const TraceProcess& process, int number, int track, std::uint32_t op) {
  const Op& what = process.schedule.ops[op];
  const Span& span = process.timeline.spans[op];
  Json arguments{{"op", op}, {"chunk", what.chunk}};
  if (!what.stream.is_none()) arguments["stream"] = process.schedule.streams[what.stream.index()].name;
  if (const auto* copy = std::get_if<Copy>(&what.what)) arguments["bytes"] = copy->from.length.count;
  if (const auto* kernel = std::get_if<Kernel>(&what.what)) {
    arguments["items"] = kernel->items;
    arguments["blocks"] = kernel->blocks;
  }
  return {{"ph", "X"},
          {"name", describe(process.schedule, OpId{op})},
          {"cat", to_string(span.engine)},
          {"pid", number},
          {"tid", track},
          {"ts", in_microseconds(span.start)},
          {"dur", in_microseconds(span.end - span.start)},
          {"args", std::move(arguments)}};
}

}  // namespace

Json chrome_trace(std::span<const TraceProcess> processes) {
  Json events = Json::array();
  for (std::size_t p = 0; p < processes.size(); ++p) {
    const TraceProcess& process = processes[p];
    const int number = static_cast<int>(p) + 1;
    events.push_back(metadata("process_name", number, 0, {{"name", process.name}}));
    events.push_back(metadata("process_sort_index", number, 0, {{"sort_index", number}}));
    int track = 1;
    // A trace shows spans as they were observed, so overlapping ops get lanes instead of being drawn in turn.
    for (const EngineRow& row : engine_rows(timeline_view(process.schedule, process.timeline),
                                            std::numeric_limits<unsigned>::max(), Overlap::lanes)) {
      for (unsigned lane = 0; lane < row.lanes; ++lane)
        name_track(events, number, track + static_cast<int>(lane),
                   lane == 0 ? row.label : fmt::format("{} ({})", row.label, lane + 1));
      for (const Bar& bar : row.bars)
        events.push_back(event(process, number, track + static_cast<int>(bar.lane), bar.op.value));
      track += static_cast<int>(row.lanes);
    }
    for (std::size_t q = 0; q < process.schedule.streams.size(); ++q) {
      const int stream_track = first_stream_track + static_cast<int>(q);
      bool named = false;
      for (std::uint32_t op = 0; op < process.schedule.ops.size(); ++op) {
        if (process.schedule.ops[op].stream.value != q) continue;
        if (!named)
          name_track(events, number, stream_track, fmt::format("stream {}", process.schedule.streams[q].name));
        named = true;
        events.push_back(event(process, number, stream_track, op));
      }
    }
  }
  return {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
}

}  // namespace shiplap
