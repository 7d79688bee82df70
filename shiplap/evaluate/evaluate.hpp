// Runs the choices of a grid in turn, verifies each, and keeps what was observed beside what every model predicted.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/evaluate/grid.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {

struct EvaluateOptions {
  GridOptions grid{};
  unsigned rounds = 11;       ///< of each group
  unsigned duel_rounds = 51;  ///< automatic choice, winner and bound; 0: no duel
  /// An error of the device while choices run ends the evaluation, instead of being kept as why nothing ran.
  bool failures_end = false;
  Bytes ready{64ull << 30};  ///< most memory, of the GPU and of the host each, of choices that are ready at once
  std::function<void(std::string_view what, std::size_t done, std::size_t total)> progress{};
};

/// What was said before anything ran: device and profile with its hash. The node must have a device.
Evaluation begin_evaluation(const Node&);

/// Predicts every choice, makes them ready in groups that fit into the memory, verifies each, runs each group in turn,
/// and sets the automatic choice against the winner. The kernel is timed on resident data first where its job states no
/// cost. The node's limits are those of the whole device: two fifths of its memory are for any one choice, as much for
/// the automatic one, the rest is for the bound. What a strategy or the device does not support, or has no memory for,
/// is skipped with the reason; a wrong result is kept as such. Throws Error when the device fails.
EvaluatedWorkload evaluate(const Node&, Workload, const EvaluateOptions& = {});

/// Copies alone, each direction by itself: every size in every number of equal copies, submitted back to back to one
/// stream, in turn within a size. Bytes are compared after the first run of each.
std::vector<EvaluatedTransfer> evaluate_transfers(MeasurableDevice&, const Profile&, const std::vector<Bytes>& sizes,
                                                  const std::vector<std::uint32_t>& copies,
                                                  const EvaluateOptions& = {});

}  // namespace shiplap
