// A node: a device, its profile, and how much of the device a job may use.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/strategy/limits.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

struct Profile;

/// A profile, the limits of a job, and the device that runs it. Without a device, jobs can be planned and not run.
struct Node {
  std::shared_ptr<MeasurableDevice> device{};  ///< shared with who opened it; null: only the profile is known
  std::shared_ptr<const Profile> profile{};    ///< parameters of its GPUs and links, set by `node_of`
  Limits limits{};                             ///< memory and threads of a GPU that a job may use

  /// Whether a real GPU runs the jobs.
  bool has_gpu() const;
};

/// A device with a given profile. The limits are those of the profile, and at most the memory that is free on the
/// device now. The node shares the ownership of the device, so it may outlive the pointer that `open` returned; a
/// device that no std::shared_ptr owns must outlive the node.
Node node_of(MeasurableDevice&, Profile);
/// A node without a device, on which jobs can be planned and not run.
Node node_of(Profile);
/// A device with its own profile. A virtual device brings a profile. For a GPU it is the cached profile of this GPU,
/// driver and host; without a cached profile, the GPU is measured quickly (about 15 s) and the profile is cached. `say`
/// receives one line about this; without `say` the line goes to stderr. Throws Error for a cached file that cannot be
/// read.
Node load_or_measure(MeasurableDevice&, const std::function<void(std::string_view)>& say = {});

/// The device of a node on which something is to run. Throws UsageError that begins with `what` when there is none.
MeasurableDevice& device_of(const Node&, std::string_view what);
/// The profile of a node. Throws UsageError for a node that was not made by `node_of` or `load_or_measure` and has
/// none.
const Profile& profile_of(const Node&);

/// The profile for a job on this number of GPUs: those of the node, and further ones like the first (`with_gpus`). For
/// one GPU it is the whole profile.
Profile profile_of_gpus(const Node&, std::uint32_t gpus);

/// The kernel cost of a job whose kernel was not measured, derived from its operations and bytes and the GPU's peak
/// rates. These are the rates in the device's own profile for a virtual device, else in the node's profile. Throws
/// Unsupported when the profile lacks a rate.
KernelCost derived_cost(const Node&, const Job&);

}  // namespace shiplap
