#include "shiplap/pipeline/node.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/host_limits.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/pipeline/gpu_array.hpp"
#include "shiplap/pipeline/profile_cache.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {
namespace {

// The driver needs some device memory itself when streams and graphs are made.

}  // namespace

bool Node::has_gpu() const { return device != nullptr && !device->is_virtual(); }

Node node_of(Profile profile) {
  const Limits limits = limits_of(profile);
  return {.device = nullptr, .profile = std::make_shared<const Profile>(std::move(profile)), .limits = limits};
}

Node node_of(MeasurableDevice& device, Profile profile) {
  Node node = node_of(std::move(profile));
  node.device = shared_device(device);
  const DeviceInfo info = device.info();
  const Bytes usable = info.simulated ? limits_of(*info.simulated).device_memory : usable_memory(info);
  node.limits = node.limits.at_most(usable);
  if (!info.is_virtual) node.limits.host_threads = usable_cpus();
  if (info.resident_threads > 0) node.limits.resident_threads = info.resident_threads;
  return node;
}

namespace {

Node with_profile(MeasurableDevice& device, const std::function<void(std::string_view)>& say, bool may_assume) {
  const auto measure_now = [&](const MeasureOptions& options, const std::string& command) {
    Measured measured{.result = measure(device, options), .profile = {}};
    measured.profile = profile_from(measured.result, device.info(), command);
    return measured;
  };
  // Unlike fmt::print, fputs does not throw where stderr is closed.
  const auto to_stderr = [](std::string_view text) {
    std::fputs(fmt::format("shiplap: {}\n", printable_lines(text)).c_str(), stderr);
  };
  return node_of(device, profile_of(device, measure_now, say ? say : to_stderr, may_assume));
}

}  // namespace

Node load_or_measure(MeasurableDevice& device, const std::function<void(std::string_view)>& say) {
  return with_profile(device, say, false);
}

Node load_or_assume(MeasurableDevice& device, const std::function<void(std::string_view)>& say) {
  return with_profile(device, say, true);
}

MeasurableDevice& device_of(const Node& node, std::string_view what) {
  if (node.device == nullptr)
    throw UsageError(
        fmt::format("{}: the node has no device, so nothing runs on it: make the node of a device, which may "
                    "be virtual, as in node_of(*open(\"cuda:0\"), profile)",
                    what));
  return *node.device;
}

const Profile& profile_of(const Node& node) {
  if (node.profile == nullptr)
    throw UsageError("the node has no profile, so nothing can be predicted: make it with load_or_measure or node_of");
  return *node.profile;
}

Profile profile_of_gpus(const Node& node, std::uint32_t gpus) {
  return gpus <= 1 ? profile_of(node) : with_gpus(profile_of(node), gpus);
}

KernelCost derived_cost(const Node& node, const Job& job) {
  const auto simulated = node.device == nullptr ? nullptr : node.device->info().simulated;
  return derived_cost(job, simulated ? *simulated : profile_of(node));
}

}  // namespace shiplap
