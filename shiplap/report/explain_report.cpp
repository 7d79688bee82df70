#include "shiplap/report/explain_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

constexpr std::size_t listed_ops = 5;
constexpr std::array<std::pair<Engine, const char*>, 4> engines{{{Engine::copy_h2d, "copy H2D"},
                                                                 {Engine::copy_shared, "copy"},
                                                                 {Engine::compute, "kernels"},
                                                                 {Engine::copy_d2h, "copy D2H"}}};

/// The times of a timeline that are compared, by engine.
struct EngineTimes {
  Seconds first_start{0};
  std::array<Seconds, engines.size()> busy{};  ///< sums of the ops' durations
  std::array<Seconds, engines.size()>
      pauses{};  ///< sums from one op to the next, which was ready before the first ended
  std::array<Seconds, engines.size()>
      handovers{};  ///< sums from the end of what an op waited for to its start, while the engine was free
};

EngineTimes engine_times(const Schedule& schedule, const Timeline& timeline) {
  const std::size_t n = schedule.ops.size();
  std::vector<Seconds> released(n, Seconds{-1});  // end of the last op that it waits for on another engine
  std::vector<OpId> last(schedule.streams.size());
  for (std::size_t i = 0; i < n; ++i) {
    const Op& op = schedule.ops[i];
    const auto wait_for = [&](OpId before) {
      if (timeline.spans[before.index()].engine != timeline.spans[i].engine)
        released[i] = std::max(released[i], timeline.spans[before.index()].end);
    };
    for (const OpId before : op.after) wait_for(before);
    if (op.stream.is_none()) continue;
    OpId& before = last[op.stream.index()];
    if (!before.is_none()) wait_for(before);
    before = OpId{static_cast<std::uint32_t>(i)};
  }
  EngineTimes times;
  times.first_start = timeline.spans.front().start;
  for (std::size_t e = 0; e < engines.size(); ++e) {
    std::vector<std::size_t> ops;
    for (std::size_t i = 0; i < n; ++i)
      if (timeline.spans[i].engine == engines[e].first) ops.push_back(i);
    std::ranges::sort(ops, {}, [&](std::size_t i) { return timeline.spans[i].start; });
    Seconds free{-1};
    for (const std::size_t i : ops) {
      const Span& span = timeline.spans[i];
      times.first_start = std::min(times.first_start, span.start);
      times.busy[e] += span.end - span.start;
      const Seconds possible = std::max(free, released[i]);
      if (released[i] >= free && released[i].count() >= 0)
        times.handovers[e] += std::max(Seconds{0}, span.start - possible);
      else if (free.count() >= 0)
        times.pauses[e] += std::max(Seconds{0}, span.start - free);
      free = std::max(free, span.end);
    }
  }
  return times;
}

std::string signed_time(Seconds t) { return (t.count() < 0 ? "−" : "+") + to_string(Seconds{std::abs(t.count())}); }

/// When an engine starts, is busy and ends in a timeline.
struct EngineUse {
  Seconds first_start{0};
  Seconds busy{0};  ///< time in which at least one op runs
  Seconds last_end{0};
};
EngineUse use_of(const Timeline& timeline, Engine engine) {
  EngineUse use{.first_start = timeline.makespan, .busy = busy_time(timeline, engine), .last_end = Seconds{0}};
  for (const Span& span : timeline.spans) {
    if (span.engine != engine) continue;
    use.first_start = std::min(use.first_start, span.start);
    use.last_end = std::max(use.last_end, span.end);
  }
  return use;
}

/// The timeline with the copies of both directions on one engine.
Timeline with_shared_copies(Timeline timeline) {
  for (Span& span : timeline.spans)
    if (span.engine == Engine::copy_h2d || span.engine == Engine::copy_d2h) span.engine = Engine::copy_shared;
  return timeline;
}

}  // namespace

std::string distance_report(const TimelineAndIdeal& predicted, const TimelineAndIdeal& observed, const TextStyle& style,
                            std::string_view observed_label) {
  if (predicted.timeline.spans.empty() || predicted.timeline.spans.size() != observed.timeline.spans.size())
    throw Error("the distance to ideal overlap needs the spans of every op, predicted and observed");
  // A device reports H2D and D2H copies apart, even where one engine performs both and the simulator says so.
  const auto is_shared = [](const Span& span) { return span.engine == Engine::copy_shared; };
  if (std::ranges::any_of(predicted.timeline.spans, is_shared) &&
      !std::ranges::any_of(observed.timeline.spans, is_shared))
    return distance_report(predicted, {with_shared_copies(observed.timeline), observed.ideal_overlap}, style,
                           observed_label);
  const auto longest = std::ranges::max_element(
      engines, {}, [&](const auto& engine) { return use_of(observed.timeline, engine.first).busy; });
  Table table{.columns = {{fmt::format("distance to ideal overlap, along {}", longest->second)},
                          {"predicted", Align::right},
                          {std::string(observed_label), Align::right}}};
  const auto add = [&](const char* name, const auto& part) {
    table.add({name, signed_time(part(predicted)), signed_time(part(observed))});
  };
  const auto of = [&](const TimelineAndIdeal& b) { return use_of(b.timeline, longest->first); };
  add("before its first op", [&](const TimelineAndIdeal& b) { return of(b).first_start; });
  add("between its ops", [&](const TimelineAndIdeal& b) { return of(b).last_end - of(b).first_start - of(b).busy; });
  add("after its last op", [&](const TimelineAndIdeal& b) { return b.timeline.makespan - of(b).last_end; });
  add("its ops themselves, minus ideal overlap",
      [&](const TimelineAndIdeal& b) { return of(b).busy - b.ideal_overlap; });
  add("makespan minus ideal overlap", [&](const TimelineAndIdeal& b) { return b.timeline.makespan - b.ideal_overlap; });
  return table.text(style);
}

std::string explain_report(const Schedule& schedule, const Timeline& predicted, const Timeline& observed,
                           const TextStyle& style, std::string_view observed_label) {
  const std::size_t n = schedule.ops.size();
  if (n == 0 || predicted.spans.size() != n || observed.spans.size() != n)
    throw Error("a comparison op by op needs the spans of every op, predicted and observed");
  const EngineTimes expected = engine_times(schedule, predicted);
  const EngineTimes seen = engine_times(schedule, observed);
  struct Term {
    std::string name;
    Seconds predicted;
    Seconds observed;
    Seconds off() const { return observed - predicted; }
  };
  std::vector<Term> terms{{"until the first op starts", expected.first_start, seen.first_start}};
  for (std::size_t e = 0; e < engines.size(); ++e) {
    if (expected.busy[e].count() == 0 && seen.busy[e].count() == 0) continue;
    const std::string name = engines[e].second;
    terms.push_back({name + ": time of the ops themselves", expected.busy[e], seen.busy[e]});
    terms.push_back({name + ": from one op to the next that is ready", expected.pauses[e], seen.pauses[e]});
    terms.push_back({name + ": dependency-to-start delay", expected.handovers[e], seen.handovers[e]});
  }
  Table table{.columns = {{"summed over all ops"},
                          {"predicted", Align::right},
                          {std::string(observed_label), Align::right},
                          {"difference", Align::right}}};
  for (const Term& term : terms)
    table.add({term.name, to_string(term.predicted), to_string(term.observed), signed_time(term.off())});
  table.add({"makespan", to_string(predicted.makespan), to_string(observed.makespan),
             signed_time(observed.makespan - predicted.makespan)});
  std::string out = table.text(style);
  const auto worst = std::ranges::max_element(terms, {}, [](const Term& t) { return std::abs(t.off().count()); });
  out += fmt::format("largest difference: {} ({})\n\n", worst->name, signed_time(worst->off()));

  std::vector<std::uint32_t> ops(n);
  std::iota(ops.begin(), ops.end(), 0u);
  const auto duration = [](const Timeline& t, std::uint32_t op) { return t.spans[op].end - t.spans[op].start; };
  const auto off = [&](std::uint32_t op) { return duration(observed, op) - duration(predicted, op); };
  const std::size_t shown = std::min(listed_ops, n);
  std::partial_sort(
      ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(shown), ops.end(),
      [&](std::uint32_t a, std::uint32_t b) { return std::abs(off(a).count()) > std::abs(off(b).count()); });
  Table single{.columns = {{"ops with the largest differences"},
                           {"predicted", Align::right},
                           {std::string(observed_label), Align::right},
                           {"difference", Align::right}}};
  for (std::size_t i = 0; i < shown; ++i)
    single.add({describe(schedule, OpId{ops[i]}), to_string(duration(predicted, ops[i])),
                to_string(duration(observed, ops[i])), signed_time(off(ops[i]))});
  return out + single.text(style);
}

}  // namespace shiplap
