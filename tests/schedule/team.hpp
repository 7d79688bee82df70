// Schedules of two agents and the streams a, b and c. No two of its ops reach the same memory, so that only streams,
// agents and stated dependencies order them.
#pragma once

#include <utility>
#include <vector>

#include "tests/schedule/builder.hpp"

namespace shiplap::testing_schedules {

struct Team : Builder {
  StreamId a = schedule.add_stream("a");
  StreamId b = schedule.add_stream("b");
  StreamId c = schedule.add_stream("c");
  Team() {
    schedule.agents = {{"main"}, {"worker"}};
    schedule.add_kernel("k");
  }
  OpId on(StreamId stream, AgentId agent, std::vector<OpId> after = {}) {
    const OpId id = kernel(stream, {}, std::move(after));
    schedule.ops.back().agent = agent;
    return id;
  }
  OpId by_host(AgentId agent, std::vector<OpId> after = {}) {
    const BufferId from = host("from", 8_B);
    const BufferId to = host("to", 8_B);
    return host_copy(agent, {from, 0_B, 8_B}, {to, 0_B, 8_B}, std::move(after));
  }
};

}  // namespace shiplap::testing_schedules
