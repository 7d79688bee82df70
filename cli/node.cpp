#include "cli/node.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/common.hpp"
#include "cli/profile_cache.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/plan/what_if.hpp"
#include "shiplap/report/progress.hpp"

namespace shiplap::cli {

void add_device_flags(CLI::App& command, NodeFlags& flags) {
  add_device_flag(command, flags.device);
  command.add_option("--profile", flags.profile, "predict from this profile (default: the device's own)")
      ->type_name("P");
}

void add_device_or_profile_flags(CLI::App& command, NodeFlags& flags) {
  add_device_flag(command, flags.device);
  CLI::Option* profile =
      command.add_option("--profile", flags.profile, "plan for a profile (name or file) instead of a device")
          ->type_name("P")
          ->excludes("--device");
  command
      .add_option("--scale", flags.scale,
                  "what if the link were another one: link=pcie4, link=x8, or a factor as in link=0.5")
      ->type_name("WHAT")
      ->needs(profile);
}

OpenedNode open_node(const NodeFlags& flags) {
  OpenedNode opened{.device = open(flags.device.empty() ? default_device() : flags.device), .node = {}};
  opened.node =
      node_of(*opened.device, flags.profile.empty() ? profile_of(*opened.device) : find_any_profile(flags.profile));
  return opened;
}

OpenedNode open_node_or_profile(const NodeFlags& flags) {
  if (flags.profile.empty()) return open_node(flags);
  Profile profile = find_any_profile(flags.profile);
  if (!flags.scale.empty()) profile = what_if(profile, flags.scale);
  return {.device = nullptr, .node = node_of(std::move(profile))};
}

void note_idle_gpus(const Node& node, const PlanOptions& options) {
  if (node.device == nullptr) return;
  const DeviceInfo info = node.device->info();
  if (info.gpus > options.space.gpus && options.space.gpus == 1)
    note(fmt::format("{}: the first of its {} GPUs does the work; --gpus {} shares it among them", info.id, info.gpus,
                     info.gpus));
}

bool is_probed(const Node& node, const Workload& workload) {
  return node.has_gpu() && workload.real_kernel && workload.job.cost.points.empty();
}

Plan plan_workload(const Node& node, const Workload& workload, const PlanOptions& options) {
  const ElapsedProgress progress("planning");
  const bool needs_data = is_probed(node, workload) || (node.device != nullptr && options.check_reach);
  if (!needs_data) return plan(node, workload.job, options);
  const WorkloadData data(*node.device, workload);
  return plan(node, data.job(), options);
}

void give_derived_cost(const Node& node, Workload& workload) {
  if (!is_probed(node, workload) && workload.job.cost.points.empty())
    workload.job.cost = derived_cost(node, workload.job);
}

}  // namespace shiplap::cli
