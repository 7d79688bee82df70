#include "cli/plan_nodes.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/common.hpp"
#include "shiplap/cluster/scaling.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::cli {

CLI::Option* add_nodes_flags(CLI::App& command, NodesFlags& flags) {
  constexpr std::uint32_t most_nodes = 1u << 16;
  auto* nodes = command
                    .add_option("--nodes", flags.nodes,
                                "predict the strong scaling over 1, 2, 4, … and N nodes like this one instead")
                    ->type_name("N")
                    ->check(CLI::Range(std::uint32_t{1}, most_nodes));
  command
      .add_option(
          "--network-bandwidth", flags.bandwidth,
          "with --nodes: the network's bandwidth between two nodes, in each direction, as in 25GB/s or 200Gbit/s")
      ->type_name("RATE");
  command
      .add_option("--network-latency", flags.latency,
                  "with --nodes: the network's latency of a small message, as in 2us")
      ->type_name("TIME");
  return nodes;
}

std::optional<Network> network_of(const NodesFlags& flags) {
  const bool has_any = !flags.bandwidth.empty() || !flags.latency.empty();
  if (has_any && flags.nodes == 0)
    throw UsageError("--network-bandwidth and --network-latency need --nodes N beside them: one node uses no network");
  if (!has_any) return std::nullopt;
  if (flags.bandwidth.empty())
    throw UsageError("--network-bandwidth is missing beside --network-latency, as in --network-bandwidth 25GB/s");
  if (flags.latency.empty())
    throw UsageError("--network-latency is missing beside --network-bandwidth, as in --network-latency 2us");
  return Network{.bandwidth = parse_bandwidth(flags.bandwidth, "--network-bandwidth"),
                 .latency = parse_seconds(flags.latency, "--network-latency"),
                 .origin = "stated"};
}

namespace {

Scaling scaling_of(const Node& node, const Workload& workload, const PlanOptions& options, std::uint32_t nodes,
                   const std::optional<Network>& network) {
  const ElapsedProgress progress("planning");
  if (!is_probed(node, workload)) return predict_scaling(node, workload.job, nodes, network, options);
  const WorkloadData data(*node.device, workload);
  return predict_scaling(node, data.job(), nodes, network, options);
}

}  // namespace

void run_plan_nodes(const OpenedNode& opened, const Workload& workload, const PlanOptions& options,
                    const NodesFlags& flags, bool json) {
  const Scaling scaling = scaling_of(opened.node, workload, options, flags.nodes, network_of(flags));
  if (json) return print_json(to_json(scaling));
  print(document::text(document::scaling_section(scaling), style_of_stdout()));
}

}  // namespace shiplap::cli
