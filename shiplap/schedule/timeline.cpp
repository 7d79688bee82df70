#include "shiplap/schedule/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/names.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {
namespace {

constexpr const char* no_spans = "the timeline has no times of single ops; run with trace to get them";

// The numbers of the ops of one engine in the order of their ends.
using ByEnd = std::vector<std::uint32_t>;

std::array<ByEnd, engine_count> ops_by_end(const Timeline& timeline) {
  std::array<ByEnd, engine_count> result;
  for (std::uint32_t i = 0; i < timeline.spans.size(); ++i)
    result[static_cast<std::size_t>(timeline.spans[i].engine)].push_back(i);
  for (ByEnd& ops : result)
    std::stable_sort(ops.begin(), ops.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return timeline.spans[a].end < timeline.spans[b].end; });
  return result;
}

std::vector<OpId> previous_in_stream(const Schedule& schedule) {
  std::vector<OpId> last(schedule.streams.size());
  std::vector<OpId> result(schedule.ops.size());
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) {
    const StreamId stream = schedule.ops[i].stream;
    if (!stream.is_none()) result[i] = std::exchange(last.at(stream.index()), OpId{i});
  }
  return result;
}

}  // namespace

std::string to_string(Engine engine) { return std::string(enum_name(engine)); }

Seconds busy_time(const Timeline& timeline, Engine engine) {
  // A makespan without spans does not tell busy times, and 0 would be wrong.
  if (timeline.spans.empty() && timeline.makespan.count() > 0) throw Error(no_spans);
  std::vector<Span> spans;
  for (const Span& span : timeline.spans)
    if (span.engine == engine) spans.push_back(span);
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  Seconds busy{0};
  for (std::size_t i = 0; i < spans.size();) {
    // Overlapping and adjacent spans count as one.
    const Seconds start = spans[i].start;
    Seconds end = spans[i].end;
    for (++i; i < spans.size() && spans[i].start <= end; ++i) end = std::max(end, spans[i].end);
    busy += std::max(Seconds{0}, end - start);
  }
  return busy;
}

BusiestEngine busiest_engine(const Timeline& timeline) {
  BusiestEngine best{Engine::compute, Seconds{-1}};
  for (const Engine engine :
       {Engine::copy_h2d, Engine::copy_d2h, Engine::copy_shared, Engine::compute, Engine::copy_d2d, Engine::host})
    if (const Seconds busy = busy_time(timeline, engine); busy > best.busy) best = {engine, busy};
  return best;
}

std::vector<OpId> critical_path(const Schedule& schedule, const Timeline& timeline) {
  const std::size_t n = schedule.ops.size();
  const auto& spans = timeline.spans;
  if (spans.empty() && n > 0) throw Error(no_spans);
  if (spans.size() != n)
    throw Error(fmt::format("a timeline of {} ops does not belong to a schedule of {} ops", spans.size(), n));
  if (n == 0) return {};

  const auto by_end = ops_by_end(timeline);
  const std::vector<OpId> previous = previous_in_stream(schedule);
  // The walk starts at the op that ends last. Among ops that end together it is the one submitted last.
  std::uint32_t last = 0;
  for (std::uint32_t i = 1; i < n; ++i)
    if (spans[i].end >= spans[last].end) last = i;
  // Times that are equal in theory can differ by rounding errors.
  const Seconds tolerance = 1e-9 * spans[last].end + Seconds{1e-15};

  // Because of the tolerance, two very short ops may each seem to end before the other starts. `visited` prevents
  // cycles.
  std::vector<bool> visited(n, false);
  std::vector<OpId> path;
  OpId current{last};
  while (!current.is_none()) {
    path.push_back(current);
    visited[current.index()] = true;
    const Seconds limit = spans[current.index()].start + tolerance;
    OpId best;
    // At equal ends the candidate considered first stays: a dependency explains more than a shared engine.
    const auto consider = [&](OpId candidate) {
      if (candidate.index() >= n || visited[candidate.index()] || spans[candidate.index()].end > limit) return;
      if (best.is_none() || spans[candidate.index()].end > spans[best.index()].end) best = candidate;
    };
    for (OpId dependency : schedule.ops[current.index()].after) consider(dependency);
    consider(previous[current.index()]);
    const ByEnd& engine = by_end[static_cast<std::size_t>(spans[current.index()].engine)];
    auto candidate = std::upper_bound(engine.begin(), engine.end(), limit,
                                      [&](Seconds t, std::uint32_t op) { return t < spans[op].end; });
    // Ops without duration that start at the same time are ordered by submission.
    const auto came_first = [&](std::uint32_t other) {
      return std::pair{spans[other].start, other} < std::pair{spans[current.index()].start, current.value};
    };
    while (candidate != engine.begin() && !came_first(*std::prev(candidate))) --candidate;
    if (candidate != engine.begin()) consider(OpId{*std::prev(candidate)});
    current = best;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace shiplap
