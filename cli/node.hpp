// The node of a command: a device with its profile, or a profile alone.
#pragma once

#include <memory>
#include <string>

#include "cli/cli11.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::cli {

/// Values of --device, --profile, --link and --scale.
struct NodeFlags {
  std::string device;
  std::string profile;
  std::string link{};
  std::string scale{};
};
/// Adds the flags of commands that run on a device and may predict from another profile.
void add_device_flags(CLI::App&, NodeFlags&);
/// Adds the flags of commands that need no device. --profile, --link and --scale describe another machine.
void add_device_or_profile_flags(CLI::App&, NodeFlags&);

/// A node, and the device that was opened for it. The node refers to the device unless it stands for another machine.
struct OpenedNode {
  std::shared_ptr<MeasurableDevice> device;
  Node node;
};
/// The device to measure: `named`, or the first GPU when that is empty. Throws Unsupported when there is no GPU:
/// whatever observes a device takes a simulated one only when it is named.
std::string device_to_measure(const std::string& named);

/// Opens the device named (the default one when none is named) with its own profile, or with the one that --profile
/// names. Measures the profile of a GPU that has none, and says so on stderr.
OpenedNode open_node(const NodeFlags&);
/// Does what open_node does when neither --profile nor --scale is given. Otherwise returns a node without a device: its
/// profile is the one of --profile, with the link of --link where it has none, or that of the device, scaled by
/// --scale.
OpenedNode open_node_or_profile(const NodeFlags&);

/// Says which figures of the command are simulated: those of a virtual device, and those of a profile that was measured
/// on one. One line each; "" for a GPU with a profile of a GPU.
std::string simulation_lines(const OpenedNode&, const NodeFlags&);
/// Prints them behind the report, or notes them on stderr when stdout is JSON and the user did not name the device.
void show_simulation(const OpenedNode&, const NodeFlags&, bool json);

/// What is said when the host has too little memory for the arrays of a job that is only planned; "" where it has
/// enough, or nobody knows. The host of a profile without a device is the one that was measured. Throws Error for a GPU
/// of this host.
std::string lacking_host_memory(const Node&, const Job&);
/// Notes on stderr what `lacking_host_memory` says.
void require_host_memory(const Node&, const Job&);
/// Throws Error with the numbers when this host has too little memory available to run the job on the node. The memory
/// of a simulated GPU is memory of the host.
void require_memory_for_run(const Node&, const Job&);

/// Notes on stderr that GPUs of the device are not used, unless --gpus says how many are.
void note_idle_gpus(const Node&, const PlanOptions&);

/// Whether a run on the node can record the time of each op. A GPU has one time for a graph, and one for copies that
/// are submitted as a batch.
bool tells_ops_apart(const Node&, const Choice&);
/// Whether the kernel is to be measured, so that the workload's arrays must exist before it is planned: a real kernel
/// on a GPU, its time not stated.
bool is_probed(const Node&, const Workload&);
/// A workload's plan, and the arrays that it was planned on; null where planning needed none.
struct PlannedWorkload {
  std::unique_ptr<WorkloadData> data{};
  Plan plan{};
};
/// Plans a workload. Its arrays are made only where its kernel is measured, checked or raced, so that a job that cannot
/// run is refused before memory is touched.
PlannedWorkload plan_workload(const Node&, const Workload&, const PlanOptions&);
/// Gives the job a derived kernel cost unless its kernel is stated or measured.
void give_derived_cost(const Node&, Workload&);

}  // namespace shiplap::cli
