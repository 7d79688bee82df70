// A node whose times are round numbers, and a scene with three host agents on it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "shiplap/sim/simulate.hpp"
#include "tests/schedule/builder.hpp"
#include "tests/support/intervals.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap::testing_sim {

using namespace testing_schedules;

inline constexpr Bytes mb{1'000'000};
inline constexpr AgentId first_agent{0};
inline constexpr AgentId second_agent{1};
inline constexpr AgentId third_agent{2};

inline TimeAt row(Bytes size, double microseconds_) { return {.size = size, .time = us(microseconds_)}; }
inline RateOfThreads rate(unsigned threads, double gb_per_second) {
  return {.threads = threads, .rate = Interval<Bandwidth>::exact(gigabytes_per_second(gb_per_second))};
}

// Pinned copies of 1 MB at 1 ms each, no latency, no gap, and nothing else takes time but what is set here.
inline Profile simple_node() {
  Profile p =
      paper_profile({.h2d = {Seconds{0}, PerByte{1e-9}, Seconds{0}}, .d2h = {Seconds{0}, PerByte{1e-9}, Seconds{0}}});
  p.name = "node";
  p.links[0].pageable = PageableModel{
      .h2d = {row(mb, 500), row(mb * 4, 2000)}, .d2h = {row(mb, 600), row(mb * 4, 2400)}, .both = {row(mb, 900)}};
  p.links[0].managed = ManagedModel{.prefetch_h2d = {row(mb, 50), row(mb * 3, 130)},
                                    .prefetch_d2h = {row(mb, 70), row(mb * 3, 170)},
                                    .demand_h2d = {row(mb, 100), row(mb * 4, 200)},
                                    .demand_d2h = {rate(1, 5), rate(2, 8)}};
  p.host = HostModel{.copy = {rate(1, 10), rate(2, 16), rate(4, 20)},
                     .calls = {{"pin", {row(1000_B, 10), row(100'000_B, 40)}},
                               {"unpin", {row(1000_B, 3)}},
                               {"flush", {row(1000_B, 7)}},
                               {"allocate driver-pinned", {row(1000_B, 110)}},
                               {"release driver-pinned", {row(1000_B, 120)}},
                               {"allocate device", {row(1000_B, 130)}}}};
  return p;
}

// Three agents, a stream for each direction and one for kernels; every op has memory of its own where nothing else is
// said.
struct ThreeAgents : Builder {
  StreamId in = schedule.add_stream("in");
  StreamId out = schedule.add_stream("out");
  StreamId compute = schedule.add_stream("compute");
  ThreeAgents() {
    schedule.agents = {{"first"}, {"second"}, {"third"}};
    schedule.add_kernel("k");
  }
  BufferId memory(MemoryKind kind, Bytes size) {
    const Place place = kind == MemoryKind::device ? Place::gpu() : Place::host();
    return schedule.add_buffer(buffer("m", place, kind, size));
  }
  OpId to_device(AgentId agent, MemoryKind kind, Bytes size, std::vector<OpId> after = {}) {
    copy(in, {memory(kind, size), 0_B, size}, {memory(MemoryKind::device, size), 0_B, size}, std::move(after));
    return by(agent);
  }
  OpId from_device(AgentId agent, MemoryKind kind, Bytes size, std::vector<OpId> after = {}) {
    copy(out, {memory(MemoryKind::device, size), 0_B, size}, {memory(kind, size), 0_B, size}, std::move(after));
    return by(agent);
  }
  OpId on_host(AgentId agent, Bytes size, std::vector<OpId> after = {}) {
    return host_copy(agent, {memory(MemoryKind::pageable, size), 0_B, size},
                     {memory(MemoryKind::pinned, size), 0_B, size}, std::move(after));
  }
  OpId call(AgentId agent, HostCall::Kind kind, Region region, std::vector<OpId> after = {}) {
    add(HostCall{.kind = kind, .region = region}, {}, std::move(after), 0);
    return by(agent);
  }
  OpId call(AgentId agent, HostCall::Kind kind, MemoryKind of, Bytes size) {
    return call(agent, kind, {memory(of, size), 0_B, size});
  }
  OpId prefetch(Region region, Place to, std::vector<OpId> after = {}) {
    return add(Prefetch{.region = region, .to = to}, in, std::move(after), 0);
  }
  // A kernel of 1 ms.
  OpId work(std::vector<Access> operands, std::vector<OpId> after = {}) {
    const OpId id = kernel(compute, std::move(operands), std::move(after));
    std::get<Kernel>(schedule.ops.back().what).work = milliseconds(1);
    return id;
  }
  Prediction predict(const Profile& profile) const {
    EXPECT_EQ(joined(problems(schedule)), "");
    return simulate(schedule, profile);
  }
  Prediction predict() const { return predict(simple_node()); }

 private:
  OpId by(AgentId agent) {
    schedule.ops.back().agent = agent;
    return OpId{static_cast<std::uint32_t>(schedule.ops.size() - 1)};
  }
};

}  // namespace shiplap::testing_sim
