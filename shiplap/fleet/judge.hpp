// Judges the nodes of a fleet against each other and against their own history, by robust statistics and without
// thresholds of the hardware.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/core/json_forward.hpp"
#include "shiplap/fleet/history.hpp"
#include "shiplap/measure/node_result.hpp"

namespace shiplap {

/// When a node is an outlier.
struct JudgeOptions {
  /// Least number of peers with a figure. With fewer, the verdicts of the checks themselves count.
  std::size_t least_peers = 5;
  /// Least number of earlier checks of a GPU. With fewer, it is not compared with them.
  std::size_t least_earlier = 5;
  /// A figure is an outlier below the median of its peers, or of its earlier checks, by more than this fraction ...
  double least_deviation = 0.05;
  /// ... and by more than this number of robust standard deviations (1.4826 times the median absolute deviation).
  double least_spreads = 6;
};

/// How sure it is that a node is not as it should be.
enum class Confidence : std::uint8_t {
  low,     ///< one check
  medium,  ///< several checks, or one that is far from its peers and bad by its own limits
  high,    ///< several checks, and a figure that is bad by its own limits or twice as far away as an outlier need be
};
EnumNames<Confidence> names_of(Confidence);
inline std::string to_string(Confidence confidence) { return std::string(enum_name(confidence)); }

/// What peers of one kind have of one figure.
struct PeerFigure {
  std::string kind;       ///< "nvidia-h200"
  std::string what;       ///< "copies to the GPU"
  std::string unit;       ///< "B/s"
  std::size_t peers = 0;  ///< number of GPUs
  double median = 0;      ///< median over the GPUs, each with the median of its results
  double spread = 0;      ///< robust standard deviation
  double lowest = 0;      ///< a result below this is an outlier; 0: there are too few peers
  /// Median over the GPUs of the value over that of their earlier checks; 0: too few have any. Another value than 1
  /// means that all of them changed, as by a driver or firmware.
  double of_earlier = 0;
  double of_limit = 0;  ///< median over the GPUs of the value over its limit; 0: no limit is known
};

/// A figure of a node that is not as it should be.
struct Outlier {
  std::string what;       ///< "copies to the GPU"
  std::string measured;   ///< "27.80 GB/s"
  double ratio = 0;       ///< median of the node's results over the median of its peers; 0: there are too few peers
  double of_earlier = 0;  ///< median of the node's results over that of its earlier checks; 0: it has not changed
  std::string causes{};   ///< what the check itself says of it
};

/// What is said of a node, the worst first.
enum class NodeState : std::uint8_t {
  sick,     ///< an outlier in every one of several results, or far from its peers and bad by its own check
  suspect,  ///< an outlier in the only result that there is: check it again
  low,      ///< like its peers, and still below what such hardware gives by its own checks
  busy,     ///< in use, so not judged
  unknown,  ///< no figure could be told
  good,     ///< like its peers
};
EnumNames<NodeState> names_of(NodeState);
inline std::string to_string(NodeState state) { return std::string(enum_name(state)); }

/// One GPU of one node.
struct JudgedNode {
  std::string node;
  std::string gpu;
  std::string pci_bus_id;
  std::string kind;
  NodeState state = NodeState::unknown;
  Confidence confidence = Confidence::low;  ///< for a suspect or sick node
  std::size_t results = 0;                  ///< number of checks that were judged
  std::vector<Outlier> outliers{};          ///< figures that are outliers in every result, lowest ratio first
  std::vector<Outlier> low{};               ///< figures of a low node that every check calls low or bad
  std::vector<Outlier> above{};             ///< figures that are as far above the peers as an outlier is below them
  std::string cause{};                      ///< the likely cause, from which figures are low together
  std::vector<std::string> busy{};          ///< what others did on the node

  /// Whether this is what all GPUs of a node copied at once (at_once.hpp).
  bool is_sum() const;
};

/// All nodes.
struct JudgedFleet {
  std::vector<JudgedNode> nodes{};     ///< by state, the worst first, and by name
  std::vector<PeerFigure> peers{};     ///< by kind, then in the order of the checks
  std::vector<std::string> missing{};  ///< nodes and ranks without a result, which the caller knows
  std::vector<std::string> failed{};   ///< checks that could not be read or done, and why, which the caller knows
  /// What may be added to the history that was judged with: results of good and low GPUs, without figures that a
  /// repetition has cleared. Empty without a history.
  std::vector<NodeResult> to_remember{};

  std::size_t count(NodeState) const;
};

/// Judges all results. Several results of a GPU are repetitions. With a history, a figure is also an outlier when it
/// fell against the GPU's own earlier checks by more than the figures of its peers did. The time grows linearly with
/// the number of results, but for sorting.
JudgedFleet judge(std::span<const NodeResult>, const JudgeOptions& = {}, const History* = nullptr);

/// Writes the document `shiplap/fleet`.
Json to_json(const JudgedFleet&);
/// Reads the document. Throws Error that names source and key.
void from_json(const JsonReader&, JudgedFleet&);
/// The JSON Schema of the document.
Json json_schema(const JudgedFleet&);

}  // namespace shiplap
