// Measures what a check of a node needs, within a time limit, and judges it only when nobody else uses the node.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/deadline.hpp"
#include "shiplap/device/load.hpp"
#include "shiplap/measure/check.hpp"
#include "shiplap/measure/measure.hpp"

namespace shiplap {

struct NodeResult;

struct NodeCheckOptions {
  /// Measuring ends by this moment, later by one run at most. Figures whose primitives were not measured by then are
  /// unknown.
  Deadline deadline{};
  /// Number of times that a bad figure is measured again. A figure is bad only when it is bad each time.
  unsigned retries = 1;
  /// The load of the node by others; called before measuring and after each bad figure, with the time to observe. When
  /// it is empty, the device is observed (`observe_load`).
  std::function<NodeLoad(Seconds)> load{};
  /// Called before each point, as `MeasureOptions::progress`.
  std::function<void(std::string_view point, std::size_t done, std::size_t total)> progress{};
  std::string command{};  ///< source of the measured profile
};

/// Result of a check.
struct NodeCheck {
  Profile profile;                     ///< the first attempt's, or the profile that was judged as it is
  std::vector<CheckedFigure> figures;  ///< figures, each from its best attempt
  std::vector<std::string> busy;       ///< what others did on the node, for people; empty: nothing, or it is unknown
  unsigned attempts = 0;               ///< number of times that the node was measured; 0: it was busy, or a profile
  std::vector<SkippedPrimitive> skipped;
  std::vector<FailedPoint> failed;

  /// Busy when the node was in use before it could be measured, unknown for a profile that was not measured on a GPU,
  /// else the verdict of the figures.
  Verdict verdict() const;
};

/// Measures the node and judges it. Nothing is measured when somebody else uses the node. A bad figure becomes busy
/// when somebody else used the node meanwhile or when its times changed from visit to visit. It becomes low when the
/// deadline leaves no time to measure it again. Bytes that did not arrive are bad at once, since no load explains them.
NodeCheck check_node(MeasurableDevice&, const NodeCheckOptions& = {});

/// Judges a profile as it is.
NodeCheck check_profile(Profile);

/// Fraction of the points of these primitives whose two visits differ clearly; 0 where no point was visited twice.
double unsteady_fraction(std::span<const Measurement>, std::span<const std::string> primitives);

/// The check without the names of node and GPU (measure/node_result.hpp).
NodeResult result_of(const NodeCheck&);

}  // namespace shiplap
