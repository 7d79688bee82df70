#include "shiplap/pipeline/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/pipeline/learn.hpp"
#include "shiplap/pipeline/planned_job.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/step_parts.hpp"

namespace shiplap {
namespace {

std::vector<std::byte*> data_of(const StepPlan& plan) {
  std::vector<std::byte*> data;
  for (const StepArray& one : plan.arrays.arrays) {
    if (one.array.data == nullptr && one.array.size.count > 0 && one.between != Between::temporary)
      throw UsageError(fmt::format(
          "{}: only the shape of array {} is known, so the step can be planned and not run: give the array memory",
          plan.name, one.array.name));
    data.push_back(one.array.data);
  }
  return data;
}

/// The functions of the kernels of the schedule. A part of the host is a kernel that has no stream.
std::vector<KernelBinding> bindings_of(const StepPlan& plan, const Step& step) {
  std::vector<KernelBinding> bindings;
  for (const std::size_t number : plan.kernels) {
    if (number < plan.kinds.size()) {
      bindings.push_back(plan.kinds[number].job.binding);
      continue;
    }
    const HostPart& part = std::get<HostPart>(step.parts.at(number - plan.kinds.size()));
    bindings.push_back({.host =
                            [work = part.work](const Launch&) {
                              if (work) work();
                            },
                        .cuda = {}});
  }
  return bindings;
}

/// The step with what the device knows of its kernels. `limits` becomes what is left beside arrays on the GPU.
Step learned(const Node& node, Step step, const PlanOptions& options, Limits& limits) {
  for (auto& part : step.parts) {
    Job* const job = std::get_if<Job>(&part);
    if (job == nullptr) continue;
    const std::vector<Array> given = job->arrays;
    Facts facts = learn(node, *job, options);
    limits = limits.at_most(facts.limits.device_memory);
    *job = std::move(facts.job);
    // A pass decides again what one pageable array means for the others.
    for (std::size_t a = 0; a < given.size(); ++a)
      if (job->arrays[a].forced_pageable_by) {
        job->arrays[a].memory = node.device != nullptr && given[a].data != nullptr
                                    ? node.device->kind_of(given[a].data, given[a].size)
                                    : given[a].memory;
        job->arrays[a].forced_pageable_by.reset();
      }
  }
  return step;
}

}  // namespace

StepPlan plan(const Node& node, const Step& step, const PlanOptions& options) {
  Step whole = with_whole_arrays(step);
  static_cast<void>(arrays_of(whole));  // refuses an invalid step before kernels are measured
  Limits limits = limits_of(node, options);
  const Step known = learned(node, std::move(whole), options, limits);
  return plan_step(profile_of(node), known, limits, options.quick);
}

namespace {

/// The step, which must have the parts of the planned one.
const Step& planned_step(const StepPlan& plan, const Step& step) {
  bool is_same = plan.parts.size() == step.parts.size() && plan.repeats == step.repeats;
  for (std::size_t p = 0; is_same && p < step.parts.size(); ++p) is_same = plan.parts[p] == name_of_part(step.parts[p]);
  if (!is_same) throw UsageError(fmt::format("{}: the plan is for a step of other parts: plan this one", plan.name));
  return step;
}

}  // namespace

PreparedStep::PreparedStep(Device& device, StepPlan plan, const Step& step)
    : plan_(std::move(plan)),
      prepared_(device, *plan_.schedule,
                {.buffers = data_of(plan_), .kernels = bindings_of(plan_, planned_step(plan_, step))}) {}

std::size_t PreparedStep::kept(std::string_view array) const {
  const auto found = find_array(plan_.arrays, array, plan_.name);
  if (found && plan_.arrays.arrays[*found].between == Between::gpu) return *found;
  throw UsageError(
      fmt::format("{}: array {} does not stay on the GPU: say so with `.stays_on_gpu`", plan_.name, array));
}

void PreparedStep::changed(std::string_view array) {
  const std::size_t a = kept(array);
  if (plan_.at_home[a]) prepared_.changed(plan_.arrays.arrays[a].array.name);
}

void PreparedStep::fetch(std::string_view array) {
  const std::size_t a = kept(array);
  const auto is_written_by = [&](const KindOfPass& kind) {
    for (std::size_t i = 0; i < kind.arrays.size(); ++i)
      if (kind.arrays[i] == a && is_written(kind.job.arrays[i].role)) return true;
    return false;
  };
  if (plan_.at_home[a] && std::ranges::any_of(plan_.kinds, is_written_by))
    prepared_.fetch(plan_.arrays.arrays[a].array.name);
}

}  // namespace shiplap
