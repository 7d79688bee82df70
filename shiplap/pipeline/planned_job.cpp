#include "shiplap/pipeline/planned_job.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/learn.hpp"

namespace shiplap {
namespace {

/// What differs first between the shapes of two arrays, such as "role"; "" without a difference.
const char* difference_of(const Array& a, const Array& b) {
  const Reach& r = a.reach;
  const Reach& s = b.reach;
  if (a.name != b.name) return "name";
  if (a.role != b.role) return "role";
  if (a.size != b.size) return "size";
  if (a.element != b.element) return "size of its elements";
  if (a.blocks.has_value() != b.blocks.has_value() || (a.blocks && !a.blocks->has_shape_of(*b.blocks))) return "blocks";
  if (a.prefix_of != b.prefix_of) return "array that it is a prefix of";
  if (a.kept != b.kept) return "place between runs";
  return r.before == s.before && r.after == s.after && bool(r.elements) == bool(s.elements) ? "" : "reach";
}

void require_same_shape(const Job& planned, const Job& given) {
  const auto refuse = [&](const std::string& difference) {
    throw UsageError(fmt::format("the plan is for {}, and the job to run {}: plan that job", planned.name, difference));
  };
  if (planned.items != given.items) refuse(fmt::format("has {} items instead of {}", given.items, planned.items));
  if (planned.arrays.size() != given.arrays.size())
    refuse(fmt::format("has {} arrays instead of {}", given.arrays.size(), planned.arrays.size()));
  for (std::size_t a = 0; a < planned.arrays.size(); ++a)
    if (const std::string difference = difference_of(planned.arrays[a], given.arrays[a]); !difference.empty())
      refuse(fmt::format("has array {} where the plan has {}, and they differ in their {}", given.arrays[a].name,
                         planned.arrays[a].name, difference));
}

}  // namespace

Limits limits_of(const Node& node, const PlanOptions& options) {
  return options.device_memory.count > 0 ? node.limits.at_most(options.device_memory) : node.limits;
}

std::vector<Memory> pin_arrays(Device& device, const Job& job) {
  std::vector<Memory> pins;
  for (const std::span<std::byte> range : ranges_to_pin(job))
    pins.push_back(device.pin(range.data(), Bytes{range.size()}));
  return pins;
}

Job planned_job(const Plan& plan, const Job& given) {
  require_same_shape(plan.job, given);
  Job job = plan.job;
  job.binding = given.binding;
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    job.arrays[a].data = given.arrays[a].data;
    job.arrays[a].reach = given.arrays[a].reach;
    job.arrays[a].blocks = given.arrays[a].blocks;
  }
  return job;
}

}  // namespace shiplap
