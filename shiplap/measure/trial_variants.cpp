#include "shiplap/measure/trial_variants.hpp"

#include <utility>

#include "shiplap/measure/trial_parts.hpp"

namespace shiplap {

Trial in_one_batch(Trial trial) {
  auto& ops = trial.schedule.ops;
  for (std::size_t i = 1; i < ops.size(); ++i) ops[i].batched = true;
  return trial;
}

Trial as_graph(Trial trial) {
  trial.schedule.as_graph = true;
  return trial;
}

Trial flushed(Trial trial) {
  Schedule before = trial.schedule;
  before.ops.clear();
  const auto agents = static_cast<std::uint32_t>(before.agents.size());
  std::uint32_t number = 0;
  for (std::uint32_t b = 0; b < before.buffers.size(); ++b) {
    if (!before.buffers[b].place.is_host()) continue;
    const Region whole{BufferId{b}, Bytes{0}, before.buffers[b].size};
    before.add(by_agent(AgentId{number % agents}, HostCall{.kind = HostCall::Kind::flush, .region = whole}));
    ++number;
  }
  trial.before = std::move(before);
  return trial;
}

Trial on_node(Trial trial, std::uint16_t numa_node) {
  const auto move = [&](Schedule& schedule) {
    for (Buffer& buffer : schedule.buffers)
      if (buffer.place.is_host()) buffer.place = Place::host(numa_node);
    for (Agent& agent : schedule.agents) agent.numa_node = numa_node;
  };
  move(trial.schedule);
  if (trial.before) move(*trial.before);
  return trial;
}

}  // namespace shiplap
