#include "cli/node.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <utility>

#include "cli/common.hpp"
#include "cli/help.hpp"
#include "cli/profile_cache.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/host_work.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/profile/what_if.hpp"
#include "shiplap/report/profile_report.hpp"
#include "shiplap/report/progress.hpp"

namespace shiplap::cli {

void add_device_flags(CLI::App& command, NodeFlags& flags) {
  add_device_flag(command, flags.device);
  add_profile_flag(command, flags.profile, "predict from this profile (default: the device's own)");
}

void add_device_or_profile_flags(CLI::App& command, NodeFlags& flags) {
  add_device_flag(command, flags.device);
  auto* profile = add_profile_flag(command, flags.profile, "plan for a profile (name or file) instead of a device")
                      ->excludes("--device");
  declare_file(
      command.add_option("--link", flags.link,
                         "assume this link for a profile that has none: that of another profile (name or file), or "
                         "pcie1 to pcie6, the published link of gtx-titan-2014 at the rate of that generation"),
      FileUse::read, files_of_profile)
      ->type_name("WHAT")
      ->needs(profile);
  command
      .add_option(
          "--scale", flags.scale,
          "plan for a node whose link is another one: link=pcie1 to link=pcie6, link=x8, or a factor from 0.001 to "
          "1000 as in link=0.5 (of the profile, or of the device's own)")
      ->type_name("WHAT");
  put_into_group(command, "Another node", {"--link", "--scale"});
}

std::string device_to_measure(const std::string& named) {
  if (!named.empty()) return named;
  if (std::string device = default_device(); device.starts_with("cuda:")) return device;
  throw Unsupported(
      fmt::format("there is no GPU here ({}), so nothing was measured; name --device virtual:h200 to measure a "
                  "simulated one",
                  fmt::join(list_devices().absent, "; ")));
}

std::string simulation_lines(const OpenedNode& opened, const NodeFlags& flags) {
  std::string lines;
  if (opened.device != nullptr && opened.device->info().is_virtual) {
    const std::string id = opened.device->info().id;
    lines += wrap(flags.device.empty()
                      ? fmt::format(
                            "Simulated: there is no GPU here, so {} stands in for one (shiplap devices says why).", id)
                      : fmt::format("Simulated: {} is a virtual device, and no GPU is used.", id),
                  style_of_stdout().width) +
             "\n";
  }
  if (const std::string profile = simulation_note(*opened.node.profile); !profile.empty())
    lines += wrap(profile, style_of_stdout().width) + "\n";
  return lines;
}

void show_simulation(const OpenedNode& opened, const NodeFlags& flags, bool json) {
  const std::string lines = simulation_lines(opened, flags);
  if (lines.empty()) return;
  if (!json)
    print("\n" + lines);
  else if (flags.device.empty() && opened.device != nullptr)
    note(lines.substr(0, lines.size() - 1));
}

OpenedNode open_node(const NodeFlags& flags) {
  OpenedNode opened{.device = open(flags.device.empty() ? default_device() : flags.device), .node = {}};
  opened.node =
      node_of(*opened.device, flags.profile.empty() ? profile_of(*opened.device) : find_any_profile(flags.profile));
  return opened;
}

OpenedNode open_node_or_profile(const NodeFlags& flags) {
  if (flags.scale.empty() && flags.profile.empty()) return open_node(flags);
  OpenedNode opened;
  if (flags.profile.empty())
    opened = open_node(flags);
  else
    opened.node = node_of(find_any_profile(flags.profile));
  if (!flags.link.empty()) opened.node = node_of(with_link(*opened.node.profile, flags.link));
  const Profile& profile = *opened.node.profile;
  opened.node = node_of(flags.scale.empty() ? profile : what_if(profile, flags.scale));
  return opened;
}

namespace {

/// The memory of the host that was measured; nullopt when the profile does not hold it.
std::optional<HostMemory> host_memory_of(const Profile& profile) {
  std::string text = condition(profile.conditions, "host.memory");
  std::erase(text, ' ');
  try {
    return HostMemory{parse_bytes(text, "host.memory")};
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace

std::string lacking_host_memory(const Node& node, const Job& job) {
  if (node.has_gpu()) {
    require_available_memory(job);
    return "";
  }
  const Bytes needed = host_memory_for(job);
  const std::optional<HostMemory> there = node.device ? total_host_memory() : host_memory_of(*node.profile);
  if (!there || needed <= there->size) return "";
  return fmt::format(
      "{} needs {} of host memory for its arrays, and {} has {}: it cannot run {}; make the workload smaller{}",
      job.name, to_string(needed),
      node.device ? "this host" : fmt::format("the host of profile {}", node.profile->name), to_string(*there),
      node.device ? "here" : "there", node.device ? ", or plan for another machine with --profile" : "");
}

void require_host_memory(const Node& node, const Job& job) {
  if (const std::string lacking = lacking_host_memory(node, job); !lacking.empty()) note(lacking);
}

void require_memory_for_run(const Node& node, const Job& job) {
  if (node.has_gpu()) return require_available_memory(job);
  // A simulated GPU holds the arrays of the run and those of ideal overlap, and executions keep what they copied. A run
  // of saxpy and one of matmul needed 3.1 and 2.8 times what is copied.
  constexpr std::uint64_t times_as_much = 3;
  require_available_memory(job, std::max(host_memory_for(job), bytes_in(job) + bytes_out(job)) * times_as_much);
}

void note_idle_gpus(const Node& node, const PlanOptions& options) {
  if (node.device == nullptr) return;
  const DeviceInfo info = node.device->info();
  if (info.gpus > options.space.gpus && options.space.gpus == 1 && options.space.relays.empty())
    note(
        fmt::format("{}: the first of its {} GPUs does the work; --gpus {} shares it among them, --relay {} lends it "
                    "their links",
                    info.id, info.gpus, info.gpus, info.gpus - 1));
}

bool tells_ops_apart(const Node& node, const Choice& choice) {
  return !node.has_gpu() || !(choice.graph || choice.batched);
}

bool is_probed(const Node& node, const Workload& workload) {
  return node.has_gpu() && workload.real_kernel && workload.job.cost.points.empty();
}

PlannedWorkload plan_workload(const Node& node, const Workload& workload, const PlanOptions& options) {
  const bool races = options.race > Seconds{0};
  PlannedWorkload planned;
  if (is_probed(node, workload) || (node.device != nullptr && (options.check_reach || races))) {
    Progress progress;
    progress.update("preparing the data …");
    planned.data = std::make_unique<WorkloadData>(*node.device, workload);
  }
  const ElapsedProgress progress(races ? "racing" : "planning");
  planned.plan = plan(node, planned.data ? planned.data->job() : workload.job, options);
  return planned;
}

void give_derived_cost(const Node& node, Workload& workload) {
  if (!is_probed(node, workload) && workload.job.cost.points.empty())
    workload.job.cost = derived_cost(node, workload.job);
}

}  // namespace shiplap::cli
