// The same trial otherwise: all ops submitted in one call, or on another NUMA node.
#pragma once

#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// Of copies in one stream: one batch of them.
Trial in_one_batch(Trial);
Trial as_graph(Trial);
/// Host memory of the trial is on that NUMA node, and its agents keep to the node's cores.
Trial on_node(Trial, std::uint16_t numa_node);

}  // namespace shiplap
