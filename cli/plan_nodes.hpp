// shiplap plan --nodes: the predicted strong scaling of a workload over nodes that are alike.
#pragma once

#include <optional>
#include <string>

#include "cli/cli11.hpp"
#include "cli/node.hpp"
#include "shiplap/cluster/exchange.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::cli {

/// Values of --nodes, --network-bandwidth and --network-latency.
struct NodesFlags {
  std::uint32_t nodes = 0;  ///< 0: no scaling is asked for
  std::string bandwidth;
  std::string latency;
};
/// Adds the flags. Returns the option of --nodes.
CLI::Option* add_nodes_flags(CLI::App&, NodesFlags&);
/// The network that the flags state; nullopt when they state nothing. Throws UsageError for figures that are not valid,
/// for one without the other, and for figures without --nodes.
std::optional<Network> network_of(const NodesFlags&);

/// Prints the predicted strong scaling as a table or as JSON.
void run_plan_nodes(const OpenedNode&, const Workload&, const PlanOptions&, const NodesFlags&, bool json);

}  // namespace shiplap::cli
