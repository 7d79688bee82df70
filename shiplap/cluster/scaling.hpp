// The predicted strong scaling of a job over nodes that are all alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/cluster/exchange.hpp"
#include "shiplap/core/json_forward.hpp"
#include "shiplap/pipeline/plan.hpp"

namespace shiplap {

/// A job on a number of nodes. Every time is that of one run of the whole job.
struct ScaledRun {
  std::uint32_t nodes = 1;  ///< number of nodes
  std::uint64_t items = 0;  ///< items of the node that takes longest
  std::uint32_t idle = 0;   ///< nodes that get no items
  Choice choice;            ///< what the plan of this node chose
  Seconds node{0};          ///< predicted time of this node for its share, by simulation
  Seconds exchange{0};      ///< time of the exchange of halos before the run
  double speed_up = 1;      ///< speed-up over the fewest nodes that can do the job, times their number
  double efficiency = 1;    ///< speed-up as a fraction of the number of nodes
  std::string limit;        ///< what keeps the run from being faster, as a phrase
  /// The time of the exchange and of the slowest node.
  Seconds total() const { return node + exchange; }
};

/// A number of nodes that cannot do the job.
struct RefusedScale {
  std::uint32_t nodes = 1;  ///< number of nodes
  std::string reason;       ///< why not
};

/// Strong scaling: the same job on 1, 2, 4, … nodes.
struct Scaling {
  std::string job;                      ///< name of the job
  std::string profile;                  ///< name of the profile that every node has
  std::vector<ScaledRun> runs{};        ///< by the number of nodes
  std::vector<RefusedScale> refused{};  ///< numbers of nodes that cannot do the job
  Bytes largest_halo{};                 ///< most bytes that a node receives before a run on any number of nodes
  std::optional<Network> network{};     ///< the network that carries the halos; none where there are none
  /// A table with a line for each number of nodes, and what the prediction assumes.
  std::string to_string() const;
};

/// Writes the document `shiplap/scaling`.
Json to_json(const Scaling&);
/// Reads the document. Throws Error that names source and key.
void from_json(const JsonReader&, Scaling&);
/// The JSON Schema of the document.
Json json_schema(const Scaling&);

/// Predicts the job on 1, 2, 4, … and `nodes` nodes like `node`. Each has its share of the items in its own memory, and
/// gets the halos of `in` arrays from its neighbours before a run; broadcast arrays are whole on every node. The time
/// of a node is predicted by simulating the plan of its share. Runs and exchanges of halos do not overlap.
///
/// Throws UsageError for 0 nodes, for a network that is missing while there are halos, or has no bandwidth, and as
/// `plan` does. A number of nodes whose memory does not hold the job is refused with the reason, and Unsupported is
/// thrown when all are.
Scaling predict_scaling(const Node& node, const Job&, std::uint32_t nodes, const std::optional<Network>& = {},
                        const PlanOptions& = {});

}  // namespace shiplap
