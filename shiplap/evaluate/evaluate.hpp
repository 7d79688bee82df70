// Runs and verifies the choices of a grid, and records the observed times beside the predictions of every model.
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
  unsigned rounds = 11;       ///< timed runs of each choice of a group
  unsigned duel_rounds = 51;  ///< timed runs of automatic choice, winner and ideal overlap in the duel; 0: no duel
  /// Whether an error of the device ends the evaluation. Otherwise it is recorded as the reason why the workload did
  /// not run.
  bool failures_end = false;
  Bytes ready{64ull << 30};  ///< most memory of the GPU, and of the host, that the prepared choices may use together
  std::function<void(std::string_view what, std::size_t done, std::size_t total)> progress{};
};

/// An evaluation without workloads: it names the device and the profile with its hash. The node must have a device.
Evaluation begin_evaluation(const Node&);

/// Evaluates a workload: predicts every choice, prepares them in groups that fit into the memory, verifies each, runs
/// each group in rotation, and compares the automatic choice with the winner. The kernel is timed on resident data
/// first if its job states no cost. The node's limits are those of the whole device: each choice may use two fifths of
/// its memory, the automatic choice another two fifths, and ideal overlap the rest. A choice that is not supported or
/// needs too much memory is skipped with the reason. A wrong result is recorded as such. Throws Error when the device
/// fails.
EvaluatedWorkload evaluate(const Node&, Workload, const EvaluateOptions& = {});

/// Evaluates copies without kernels, one direction at a time: every size in every number of equal copies, back to back
/// in one stream. The numbers of copies of a size are run in rotation. Bytes are verified after the first run of each.
std::vector<EvaluatedTransfer> evaluate_transfers(MeasurableDevice&, const Profile&, const std::vector<Bytes>& sizes,
                                                  const std::vector<std::uint32_t>& copies,
                                                  const EvaluateOptions& = {});

}  // namespace shiplap
