// What is known of a machine: a device, its profile, and how much of the device a job may use.
#pragma once

#include <functional>
#include <string_view>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// A profile, the limits of a job, and the device that runs it. Without a device, jobs can be planned and not run.
struct Node {
  MeasurableDevice* device = nullptr;  ///< must outlive the node; null: the node is known by its profile only
  Profile profile{};                   ///< of the node's GPUs and links
  Limits limits{};                     ///< memory and threads of a GPU that a job may use

  /// Whether a real GPU runs the jobs.
  bool has_gpu() const;
};

/// A device with a given profile. The limits are those of the profile, and of the memory that is free on the device
/// now.
Node node_of(MeasurableDevice&, Profile);
/// A machine that is not at hand.
Node node_of(Profile);
/// A device with its own profile. A virtual device has one. For a GPU it is the cached profile of this GPU, driver and
/// host; where there is none, the GPU is measured quickly (about 15 s) and the profile is cached. `say` receives one
/// line about it; without `say` it goes to stderr. Throws Error for a cached file that cannot be read.
Node load_or_measure(MeasurableDevice&, const std::function<void(std::string_view)>& say = {});

/// The profile with `gpus` GPUs: those that were not measured are taken to be like the first.
Profile profile_of_gpus(const Node&, std::uint32_t gpus);

/// The kernel cost of a job that nothing was measured for: derived from flops and bytes over the limits of the device's
/// own profile on a virtual device, of the node's profile otherwise. Throws Unsupported as derived_cost does.
KernelCost derived_cost(const Node&, const Job&);

}  // namespace shiplap
