// A strict reader of traces, and traces that must pass it.
#include "shiplap/report/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/report/timelines.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

struct Track {
  std::string name;
  std::vector<std::pair<double, double>> spans;
};
struct Process {
  std::string name;
  std::map<int, Track> tracks;
  std::map<std::uint32_t, int> times_seen;  // by op
};

/// Reads a trace and fails the test where it breaks a rule: known kinds of events only, every track named before it is
/// used, numbers that make sense, spans of a track apart from each other.
std::map<int, Process> processes_of(const Json& trace) {
  std::map<int, Process> processes;
  EXPECT_TRUE(trace.at("traceEvents").is_array());
  for (const Json& event : trace.at("traceEvents")) {
    Process& process = processes[event.at("pid").get<int>()];
    const std::string kind = event.at("ph");
    if (kind == "M") {
      if (event.at("name") == "process_name") process.name = event.at("args").at("name");
      if (event.at("name") == "thread_name")
        process.tracks[event.at("tid").get<int>()].name = event.at("args").at("name");
      continue;
    }
    EXPECT_EQ(kind, "X");
    const auto track = process.tracks.find(event.at("tid").get<int>());
    if (track == process.tracks.end()) {
      ADD_FAILURE() << "an event on a track without a name: " << event.dump();
      continue;
    }
    EXPECT_FALSE(track->second.name.empty());
    const double start = event.at("ts");
    const double duration = event.at("dur");
    EXPECT_GE(start, 0);
    EXPECT_GE(duration, 0);
    EXPECT_FALSE(event.at("name").get<std::string>().empty());
    track->second.spans.emplace_back(start, start + duration);
    ++process.times_seen[event.at("args").at("op").get<std::uint32_t>()];
  }
  for (auto& [number, process] : processes) {
    EXPECT_FALSE(process.name.empty());
    std::set<std::string> names;
    for (auto& [id, track] : process.tracks) {
      EXPECT_TRUE(names.insert(track.name).second) << "two tracks named " << track.name;
      EXPECT_FALSE(track.spans.empty()) << track.name;
      std::ranges::sort(track.spans);
      for (std::size_t i = 1; i < track.spans.size(); ++i)
        EXPECT_GE(track.spans[i].first, track.spans[i - 1].second - 1e-6) << track.name << " " << i;
    }
  }
  return processes;
}

TEST(Trace, holds_every_op_on_an_engine_and_a_stream_in_every_layout) {
  const Job job = in_out_job(64_MiB, 64_MiB, milliseconds(1.5), 4096);
  for (const char* strategy : {"explicit", "streams", "hybrid", "implicit"})
    for (const Layout layout : {Layout::three, Layout::few, Layout::per_chunk}) {
      const Schedule schedule =
          find_strategy(strategy).schedule(job, {.chunks = 12, .layout = layout}, limits_of(planted_profile()));
      const Timeline timeline = simulate(schedule, planted_profile()).timeline;
      const std::array both{TraceProcess{"predicted", schedule, timeline},
                            TraceProcess{"observed", schedule, timeline}};
      const auto processes = processes_of(Json::parse(chrome_trace(both).dump()));
      ASSERT_EQ(processes.size(), 2u);
      EXPECT_EQ(processes.at(1).name, "predicted");
      EXPECT_EQ(processes.at(2).name, "observed");
      for (const auto& [number, process] : processes) {
        EXPECT_EQ(process.times_seen.size(), schedule.ops.size());
        for (const auto& [op, times] : process.times_seen) EXPECT_EQ(times, 2) << op;
      }
    }
}

TEST(Trace, gives_ops_of_an_engine_that_run_at_once_tracks_of_their_own) {
  test::Drawn drawn = test::diagonal(3, milliseconds(1));
  for (std::size_t i = 0; i < drawn.timeline.spans.size(); ++i) {
    drawn.schedule.ops[i].stream = drawn.schedule.add_stream("q" + std::to_string(i));
    drawn.timeline.spans[i].start = Seconds{0};
    drawn.timeline.spans[i].end = milliseconds(1);
  }
  const std::array one{TraceProcess{"observed", drawn.schedule, drawn.timeline}};
  const auto processes = processes_of(chrome_trace(one));
  EXPECT_EQ(processes.at(1).tracks.size(), 3u * 3 + 9);
}

TEST(Trace, refuses_a_timeline_without_spans) {
  const test::Drawn drawn = test::diagonal(3, milliseconds(1));
  const Timeline empty{{}, milliseconds(3)};
  const std::array one{TraceProcess{"observed", drawn.schedule, empty}};
  EXPECT_THROW(chrome_trace(one), Error);
}

}  // namespace
}  // namespace shiplap
