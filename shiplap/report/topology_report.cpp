#include "shiplap/report/topology_report.hpp"

#include <fmt/format.h>

#include <vector>

namespace shiplap {
namespace {

/// One GPU, with the link to it when it is the first GPU.
std::string gpu_line(const Profile& profile, std::size_t gpu) {
  const Conditions& c = profile.conditions;
  // The conditions describe the link of the first GPU only.
  if (gpu > 0) return fmt::format("GPU {}  {}", gpu, profile.gpus[gpu].name);
  const std::string link = condition(c, "gpu.link");
  const std::string loaded = condition(c, "gpu.link_loaded");
  std::string text = fmt::format("{} ── GPU 0  {}, {}", link == unknown_fact ? "unknown link" : link,
                                 profile.gpus[0].name, to_string(profile.gpus[0].memory));
  if (const std::string bus = condition(c, "gpu.pci_bus_id"); bus != unknown_fact) text += ", " + bus;
  if (loaded != unknown_fact && loaded != link) text += fmt::format(" (trained to {} under load)", loaded);
  return text;
}

std::string peers_line(const Profile& profile) {
  std::size_t direct = 0;
  for (const PeerModel& peer : profile.peers) direct += peer.direct.empty() ? 0 : 1;
  return fmt::format("copies between the GPUs: {}", direct == profile.peers.size() ? "direct" : "through the host");
}

}  // namespace

std::string topology_report(const Profile& profile, const TextStyle& style) {
  const Conditions& c = profile.conditions;
  if (condition(c, "host.cpu") == unknown_fact || profile.gpus.empty()) return "";
  std::string out = "\n" + bold("the node", style) + "\n";
  out += wrap_if_wider(fmt::format("  host  {}, {} cores, {}", condition(c, "host.cpu"), condition(c, "host.cores"),
                                   condition(c, "host.memory")),
                       style.width, "        ") +
         "\n";

  const std::string nodes = condition(c, "host.numa_nodes");
  const std::string near = condition(c, "gpu.numa_node");
  // On a host with one NUMA node the GPU is at that node, even if the system reports none.
  std::string at = "NUMA node 0";
  if (nodes != "1") at = near == unknown_fact || near.starts_with("-") ? "NUMA node unknown" : "NUMA node " + near;
  if (nodes != "1") at += fmt::format(" of {}", nodes);
  out += fmt::format("  └─ {}\n", at);
  std::vector<std::string> lines;
  for (std::size_t g = 0; g < profile.gpus.size(); ++g) lines.push_back(gpu_line(profile, g));
  if (!profile.peers.empty()) lines.push_back(peers_line(profile));
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += wrap_if_wider(fmt::format("     {} {}", i + 1 == lines.size() ? "└─" : "├─", lines[i]), style.width,
                         i + 1 == lines.size() ? "        " : "     │  ") +
           "\n";
  return out;
}

}  // namespace shiplap
