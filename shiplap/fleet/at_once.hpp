// What all GPUs of a node get together from its host, as one result beside those of its GPUs.
#pragma once

#include <span>
#include <string>

#include "shiplap/measure/node_result.hpp"

namespace shiplap {

/// The sum of what the GPUs of a node copied at once, as a result of a GPU named "all 4 GPUs" and a kind as in
/// "4 x nvidia-h100", which is compared with other nodes that have as many GPUs. The limit is the sum of what each GPU
/// reached alone in `checks`, the checks of all nodes; 0 unless every GPU has been checked. Throws Error when there are
/// no results.
NodeResult all_gpus_at_once(std::span<const NodeResult> of_gpus, std::span<const NodeResult> checks);

/// Whether the name of a GPU is that of such a sum.
bool is_sum(const std::string& gpu);

}  // namespace shiplap
