// The node that a command speaks of: a device with its profile, or a profile alone.
#pragma once

#include <memory>
#include <string>

#include "cli/cli11.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::cli {

/// --device, --profile and --scale.
struct NodeFlags {
  std::string device;
  std::string profile;
  std::string scale;
};
/// Flags of commands that run on a device, and may predict from another profile.
void add_device_flags(CLI::App&, NodeFlags&);
/// Flags of commands that need no device: --profile stands for a machine that is not at hand, and can be scaled.
void add_device_or_profile_flags(CLI::App&, NodeFlags&);

/// A node with its device, which the node refers to.
struct OpenedNode {
  std::unique_ptr<MeasurableDevice> device;
  Node node;
};
/// Opens the device named (the default one when none is named) with its own profile, or with the one that --profile
/// names. Measures the profile of a GPU that has none, and says so on stderr.
OpenedNode open_node(const NodeFlags&);
/// The profile named by --profile, scaled, without a device; as open_node where no profile is named.
OpenedNode open_node_or_profile(const NodeFlags&);

/// Notes on stderr that GPUs of the device are not used, unless --gpus says how many are.
void note_idle_gpus(const Node&, const PlanOptions&);

/// Whether the kernel is to be measured, so that the workload's arrays must exist before it is planned: a real kernel
/// on a GPU, its time not stated.
bool is_probed(const Node&, const Workload&);
/// Plans a workload that will not be run. Where its kernel is to be measured or checked, its arrays exist meanwhile.
Plan plan_workload(const Node&, const Workload&, const PlanOptions&);
/// Gives the job a derived kernel cost unless its kernel is stated or measured.
void give_derived_cost(const Node&, Workload&);

}  // namespace shiplap::cli
