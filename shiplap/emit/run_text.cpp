#include "shiplap/emit/run_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shiplap/emit/block_text.hpp"
#include "shiplap/emit/snippets.hpp"
#include "shiplap/workload/program_text.hpp"

namespace shiplap {
namespace {

// Streams that have ops, in the order of their first ops.
std::vector<StreamId> used_streams(const Schedule& schedule) {
  std::vector<StreamId> streams;
  for (const Op& op : schedule.ops)
    if (!op.stream.is_none() && std::ranges::find(streams, op.stream) == streams.end()) streams.push_back(op.stream);
  return streams;
}

// Range of a loop over streams. An array of streams appears as its name when all its streams are included.
std::string loop_range(const Names& names, const std::vector<StreamId>& streams) {
  const auto group_of = [&](StreamId stream) { return names.group[stream.index()]; };
  std::vector<std::string> each;
  for (const StreamId stream : streams) each.push_back(names.stream(stream));
  const bool is_one_group =
      std::ranges::all_of(streams, [&](StreamId s) { return group_of(s) == group_of(streams[0]); });
  if (streams.size() > 1 && is_one_group && streams.size() == names.groups[group_of(streams[0])].count)
    return names.groups[group_of(streams[0])].name;
  return fmt::format("{{{}}}", fmt::join(each, ", "));
}

std::string threads_text(const Schedule& schedule, const Structure& structure, const Names& names) {
  std::string act;
  for (std::size_t i = 0; i < structure.lanes.size(); ++i) {
    const Lane& lane = structure.lanes[i];
    const std::string argument = lane.agents == 1        ? ""
                                 : lane.first_agent == 0 ? "agent"
                                                         : fmt::format("agent - {}", lane.first_agent);
    act += i + 1 == structure.lanes.size() ? fmt::format("  {}({});\n", names.lane[i], argument)
                                           : fmt::format("  if (agent < {}) return {}({});\n",
                                                         lane.first_agent + lane.agents, names.lane[i], argument);
  }
  return filled(snippets::threads, {{"agents", std::to_string(schedule.agents.size())}, {"act", act}});
}

std::string graph_text(const Schedule& schedule, const Names& names, const PipelineText& pipeline) {
  const std::vector<StreamId> used = used_streams(schedule);
  const bool branches = used.size() > 1;
  return wrapped_code(
      filled(snippets::graph,
             {{"origin", names.stream(used.front())},
              {"branch", branches ? filled(snippets::branch, {{"streams", loop_range(names, used)}}) : ""},
              {"join", branches ? filled(snippets::join, {{"streams", loop_range(names, pipeline.ending)}}) : ""}}));
}

}  // namespace

WayOfRun way_of_run(const Schedule& schedule, const PipelineText& pipeline) {
  const bool by_host_clock = std::ranges::any_of(schedule.ops, [](const Op& op) { return op.stream.is_none(); });
  return {.threaded = schedule.agents.size() > 1,
          .by_host_clock = by_host_clock,
          .joined = !schedule.as_graph && !by_host_clock && pipeline.ending.size() > 1};
}

std::string threads_and_graph_text(const Schedule& schedule, const Structure& structure, const Names& names,
                                   const PipelineText& pipeline) {
  return (schedule.agents.size() > 1 ? threads_text(schedule, structure, names) : "") +
         (schedule.as_graph ? graph_text(schedule, names, pipeline) : "");
}

std::string run_text(const Schedule& schedule, const Names& names, const PipelineText& pipeline) {
  const WayOfRun way = way_of_run(schedule, pipeline);
  std::string before = list_check(schedule);
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b)
    if (schedule.buffers[b].memory == MemoryKind::managed)
      before += fmt::format("  touch({}, bytes_{});  // brings its pages to the host before a run\n", names.buffer[b],
                            names.bare(b));
  const std::string go = way.threaded ? "act_all();" : "pipeline();";
  if (way.by_host_clock)
    return wrapped_code(filled(snippets::run_by_host_clock,
                               {{"before", before}, {"go", go}, {"ending", loop_range(names, pipeline.ending)}}));
  const std::string first = names.stream(used_streams(schedule).front());
  return wrapped_code(filled(
      snippets::run_by_events,
      {{"before", before},
       {"first", first},
       {"go", schedule.as_graph ? fmt::format("check(cudaGraphLaunch(graph, {}));", first) : go},
       {"join", way.joined ? filled(snippets::join_for_stop, {{"ending", loop_range(names, pipeline.ending)}}) : ""},
       {"last", way.joined          ? "all_ended"
                : schedule.as_graph ? first
                                    : names.stream(pipeline.ending.front())}}));
}

}  // namespace shiplap
