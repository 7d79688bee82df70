#include "shiplap/measure/trial_variants.hpp"

#include <utility>

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
