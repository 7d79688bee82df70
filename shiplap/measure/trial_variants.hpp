// Variants of a trial: all copies submitted in one call, host memory that no cache of the CPU holds, or host memory on
// another NUMA node.
#pragma once

#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// Submits the copies of a trial, which are in one stream, as one batch.
Trial in_one_batch(Trial);
Trial as_graph(Trial);
/// Makes the agents of the trial flush its host memory from the CPU caches before each run, each agent the buffers of
/// its number in turn. Replaces `Trial::before`.
Trial flushed(Trial);
/// Puts the host memory of the trial on a NUMA node and binds its agents to the node's cores.
Trial on_node(Trial, std::uint16_t numa_node);

}  // namespace shiplap
