// Finds the steps that a recorded program repeats: batches, frames, iterations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "shiplap/advise/recording.hpp"

namespace shiplap {

/// What the program has put into streams, in the order in which it made the calls: indices of the copies, kernels and
/// fills in `Recording::records`. What comes from one call stays in the order of the recording.
std::vector<std::size_t> submitted_order(const Recording&);

/// A step that repeats.
struct Steps {
  /// Positions in the submitted order at which a step begins, in ascending order, and the end of the last one.
  std::vector<std::size_t> bounds;
  std::size_t ops = 0;    ///< number of ops in a step; a step with another number is not among the typical ones
  double coverage = 0;    ///< fraction of all ops that are in steps
  std::size_t typical{};  ///< index of the step whose time on the GPU is the median; it has `ops` ops
};

/// The steps of a recording, or nullopt when nothing repeats at least three times and covers half of the ops.
///
/// Two ops are alike when they are kernels of one name, grid and block, copies of one size between the same kinds of
/// memory, or fills of one size, in one stream. Like ops in a row count as one, and waits of the host count as well.
/// The period is the distance between like ones that most of them confirm; among periods that are confirmed nearly as
/// often, the smallest. A step may lack some ops or have further ones: the next step begins where the ops are like its
/// beginning again. A step begins after the host has waited for results, if it ever does.
///
/// With `range` a step is instead what was submitted within each NVTX range of this name.
std::optional<Steps> find_steps(const Recording&, std::string_view range = {});

}  // namespace shiplap
