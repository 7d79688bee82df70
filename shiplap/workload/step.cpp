#include "shiplap/workload/step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/fused_job.hpp"

namespace shiplap {
namespace {

void require_inside(const Step& step, const HostPart& part, const std::vector<StepArray>& arrays) {
  for (const HostAccess& access : part.accesses) {
    const auto holds = [&](const StepArray& one) {
      return one.array.data != nullptr && access.data >= one.array.data && access.size.count <= one.array.size.count &&
             static_cast<std::uint64_t>(access.data - one.array.data) <= one.array.size.count - access.size.count;
    };
    if (access.size.count > 0 && std::ranges::none_of(arrays, holds))
      throw UsageError(fmt::format(
          "{}: {} accesses memory that is no part of an array of the step: leave it out, because no kernel uses it",
          step.name, part.name));
  }
}

/// Throws UsageError for arrays that a step cannot have.
void require_plain_arrays(const Step& step, const Job& job) {
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    const Array& array = job.arrays[a];
    if (array.blocks || array.prefix_of)
      throw UsageError(fmt::format("{}: {} of {} is {}: run that job on its own", step.name, array.name, job.name,
                                   array.blocks ? "blocks of a pool" : "a prefix of another array"));
    if (array.memory == MemoryKind::managed)
      throw UsageError(
          fmt::format("{}: {} of {} is managed memory, which moves by itself: give a step pinned or pageable arrays",
                      step.name, array.name, job.name));
    for (std::size_t b = 0; b < a; ++b)
      if (array.role != Role::scratch && job.arrays[b].role != Role::scratch && is_same_array(job.arrays[b], array) &&
          (is_written(array.role) || is_written(job.arrays[b].role)))
        throw UsageError(fmt::format(
            "{}: {} has arrays {} and {} in one memory{}, and writes one of them: use one inout array, or "
            "separate memory",
            step.name, job.name, job.arrays[b].name, array.name,
            array.part_of.empty() ? ""
                                  : fmt::format(", that of {}, which other kernels use as a whole", array.part_of)));
  }
}

/// Throws UsageError where an array of which only the shape is known has the name of one that has memory.
void require_distinct_names(const Step& step, const std::vector<StepArray>& arrays) {
  for (const StepArray& one : arrays)
    for (const StepArray& other : arrays)
      if (one.array.data == nullptr && other.array.data != nullptr && one.array.name == other.array.name)
        throw UsageError(fmt::format("{}: {} has memory in one job and only a shape in another: give both the memory",
                                     step.name, one.array.name));
}

}  // namespace

std::optional<std::size_t> find_array(const StepArrays& all, std::string_view name, std::string_view step) {
  std::optional<std::size_t> found;
  for (const bool by_jobs : {false, true}) {
    for (std::size_t a = 0; a < all.arrays.size(); ++a) {
      const auto& [array, names, between] = all.arrays[a];
      if (by_jobs ? std::ranges::find(names, name) == names.end() : array.name != name) continue;
      if (found)
        throw UsageError(fmt::format("{}: several arrays are called {}: give them different names", step, name));
      found = a;
    }
    if (found) return found;
  }
  return found;
}

StepArrays arrays_of(const Step& step) {
  if (step.repeats == 0)
    throw UsageError(fmt::format("{}: `repeated` 0: a step runs its parts at least once", step.name));
  constexpr std::uint64_t most_parts = std::uint64_t{1} << 32;
  if (step.repeats > most_parts / std::max<std::size_t>(1, step.parts.size()))
    throw UsageError(fmt::format("{}: `repeated` {}: a step has at most {} parts in all repeats", step.name,
                                 step.repeats, most_parts));
  StepArrays result;
  bool has_kernel = false;
  for (const auto& part : step.parts) {
    auto& indices = result.of_part.emplace_back();
    const Job* const job = std::get_if<Job>(&part);
    if (job == nullptr) continue;
    has_kernel = true;
    require_valid(*job);
    require_plain_arrays(step, *job);
    for (const Array& array : job->arrays) {
      if (array.role == Role::scratch) {
        indices.push_back(std::nullopt);
        continue;
      }
      const auto known = std::ranges::find_if(
          result.arrays, [&](const StepArray& other) { return is_same_array(other.array, array); });
      indices.push_back(static_cast<std::size_t>(known - result.arrays.begin()));
      if (known == result.arrays.end()) result.arrays.push_back({.array = array});
      StepArray& one = result.arrays[*indices.back()];
      if (array.kept) one.between = Between::gpu;
      one.array.kept = false;
      if (!array.part_of.empty()) one.array.name = array.part_of;
      if (std::ranges::find(one.names, array.name) == one.names.end()) one.names.push_back(array.name);
    }
  }
  require_distinct_names(step, result.arrays);
  if (!has_kernel) throw UsageError(fmt::format("{}: a step needs a kernel: add one with `.kernel(job)`", step.name));
  for (const auto& [name, between] : step.between) {
    const auto known = find_array(result, name, step.name);
    if (!known) throw UsageError(fmt::format("{}: no kernel has an array {}", step.name, name));
    result.arrays[*known].between = between;
  }
  for (const auto& part : step.parts)
    if (const auto* host = std::get_if<HostPart>(&part)) require_inside(step, *host, result.arrays);
  return result;
}

}  // namespace shiplap
