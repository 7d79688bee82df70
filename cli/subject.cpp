#include "cli/subject.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "cli/common.hpp"
#include "cli/profile_cache.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/plan/what_if.hpp"

namespace shiplap::cli {

Subject::Subject(const std::string& device_name, const std::string& profile_name)
    : device(open(device_name.empty() ? default_device() : device_name)),
      info(device->info()),
      profile(profile_name.empty() ? profile_of(*device) : find_any_profile(profile_name)),
      limits(limits_of(profile)) {
  if (info.is_virtual) {
    // The virtual GPU is the one of its own profile, whatever profile the prediction comes from.
    limits.device_memory = std::min(limits.device_memory, limits_of(profile_of(*device)).device_memory);
  } else {
    limits.device_memory = std::min(limits.device_memory, info.free_memory / 100 * 95);
  }
  if (info.gpus > 1) note(info.id + ": the first of its GPUs does the work; a Job shares it (docs/jobs.md)");
  if (info.resident_threads > 0) limits.resident_threads = info.resident_threads;
}

Job Subject::costed(Workload workload) const {
  if (wants_probe(workload, info)) {
    Pipeline pipeline(*device, std::move(workload));
    pipeline.set_cost(pipeline.probe_kernel(limits));
    return pipeline.workload().job;
  }
  give_derived_cost(workload.job, info.is_virtual ? profile_of(*device) : profile);
  return std::move(workload.job);
}

void give_derived_cost(Job& job, const Profile& profile) {
  if (job.cost.points.empty()) job.cost = derived_cost(job, profile);
}

bool wants_probe(const Workload& workload, const DeviceInfo& info) {
  return !info.is_virtual && workload.real_kernel && workload.job.cost.points.empty();
}

CLI::Option* add_scale_flag(CLI::App& command, std::string& scale) {
  return command
      .add_option("--scale", scale,
                  "what if the link were another one: link=pcie4, link=x8, or a factor as in link=0.5")
      ->type_name("WHAT");
}

Profile scaled(Profile profile, const std::string& scale) {
  return scale.empty() ? std::move(profile) : what_if(profile, scale);
}

}  // namespace shiplap::cli
