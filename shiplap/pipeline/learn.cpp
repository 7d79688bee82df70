#include "shiplap/pipeline/learn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "shiplap/core/error.hpp"
#include "shiplap/device/device_name.hpp"
#include "shiplap/device/load.hpp"
#include "shiplap/pipeline/captured_kernel.hpp"
#include "shiplap/pipeline/check_reach.hpp"
#include "shiplap/pipeline/contiguous_job.hpp"
#include "shiplap/pipeline/gpu_array.hpp"
#include "shiplap/pipeline/planned_job.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/plan/relays.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {
namespace {

/// Throws UsageError when an array has no memory, because a kernel is timed on the arrays of its job.
void require_arrays_to_probe(const Job& job) {
  for (const Array& array : job.arrays)
    if (array.data == nullptr && size_on_host(array).count > 0)
      throw UsageError(fmt::format(
          "{}: of array {} only the shape is known, and the kernel's time is measured on the arrays: give the "
          "array its memory before planning, or state the time with `.kernel_time`",
          job.name, array.name));
}

/// Computes all reaches for a few chunks, which throws UsageError for an invalid one.
void require_sound_reaches(const Job& job) {
  constexpr std::uint64_t few = 64;
  const auto chunks = cut_into_chunks(job, static_cast<std::uint32_t>(std::min(job.items, few)));
  for (const Array& array : job.arrays)
    if (!stays(array.role)) chunk_reaches(job, array, chunks);
}

/// Why the arrays cannot be pinned where they are; "" when they can.
std::string why_not_pinned(Device& device, const Job& job) {
  try {
    for (const std::span<std::byte> range : ranges_to_pin(job))
      device.require_pinnable(range.data(), Bytes{range.size()});
  } catch (const Error& error) {
    return fmt::format("these arrays cannot be pinned where they are: {}", error.what());
  }
  return {};
}

/// The limits of the node, which were set when it was opened, beside arrays that are on the GPU now.
Limits limits_beside(const Node& node, const Job& job, const Limits& limits) {
  Bytes there;
  for (const Array& array : job.arrays)
    if (is_on_gpu(array)) there += size_on_host(array);
  if (there.count == 0) return limits;
  if (node.device != nullptr) return limits.at_most(usable_memory(node.device->info()));
  return limits.at_most(limits.device_memory - std::min(limits.device_memory, there));
}

/// Throws UsageError when the device has fewer GPUs.
void require_gpus(const DeviceInfo& info, std::uint32_t gpus) {
  if (gpus <= info.gpus) return;
  const std::optional<std::string> name = name_with_gpus(info.id, gpus);
  throw UsageError(fmt::format("{} has {} GPU{}, not {}: open more of them{}", info.id, info.gpus,
                               info.gpus == 1 ? "" : "s", gpus, name ? ", as in " + *name : ""));
}

/// Checks that the device can run the job, and counts the launches of its kernel.
Job captured_and_checked(Device& device, const PlanOptions& options, const Limits& limits, Job job) {
  const DeviceInfo info = device.info();
  require_kernel(info, job);
  require_gpus(info, gpus_of(options.space));
  if (options.quick)
    job.capturable = false;
  else
    job = as_captured(device, std::move(job), limits);
  if (options.check_reach) require_declared_reach(device, ContiguousJob(device, job).job());
  return job;
}

/// The cost of the kernel, measured on a GPU and derived elsewhere.
KernelCost cost_of_kernel(const Node& node, const PlanOptions& options, const Facts& facts) {
  if (!node.has_gpu() || options.quick) return derived_cost(node, facts.job);
  require_arrays_to_probe(facts.job);
  ProbeOptions probe = options.probe;
  // Zero-copy strategies do not support blocks, and the probe has no launches over the host's and the GPU's memory.
  if (has_blocks(facts.job) || std::ranges::any_of(facts.job.arrays, is_on_gpu)) probe.zero_copy = Seconds{0};
  return probe_kernel(*node.device, ContiguousJob(*node.device, facts.job).job(), facts.limits, probe);
}

/// Throws UsageError for what an array on the GPU cannot be.
void require_usable_on_gpu(const Job& job, const Array& array) {
  if (array.blocks)
    throw UsageError(
        fmt::format("{}: the pool of {} is on the GPU, and blocks are gathered from a pool on the host: let the kernel "
                    "read the pool as a broadcast array",
                    job.name, array.name));
  if (array.kept)
    throw UsageError(
        fmt::format("{}: {} is on the GPU already, so there is nothing to keep there: state it as "
                    "`broadcast`, or `carried` if the kernel writes it",
                    job.name, array.name));
}

}  // namespace

SearchSpace with_idle_relays(const Node& node, SearchSpace space, std::vector<std::string>& said) {
  if (space.relays.empty() || node.device == nullptr) return space;
  require_gpus(node.device->info(), gpus_of(space));
  if (!node.has_gpu()) return space;
  std::erase_if(space.relays, [&](std::uint16_t gpu) {
    // How busy the GPU is says nothing of others, because this program may have used it a moment ago.
    const std::vector<std::string> others = possible_work_of_others({.gpu = node.device->load(gpu)});
    if (!others.empty())
      said.push_back(fmt::format("GPU {} relays nothing, because others use it: {}", gpu, others.front()));
    return !others.empty();
  });
  return space;
}

Job with_memory_kinds(const Device* device, Job job) {
  bool managed = false;
  bool others = false;
  for (Array& array : job.arrays) {
    if (size_on_host(array).count == 0) continue;
    if (device != nullptr && array.data != nullptr) {
      const MemoryKind found = device->kind_of(array.data, size_on_host(array));
      if (is_on_gpu(array) && found == MemoryKind::pageable)
        throw UsageError(
            fmt::format("{}: array {} is memory of a GPU that {} does not have: give it an array on the host", job.name,
                        array.name, device->info().id));
      array.memory = found;
    }
    if (is_on_gpu(array)) require_usable_on_gpu(job, array);
    if (stays(array.role) || is_on_gpu(array)) continue;
    managed = managed || array.memory == MemoryKind::managed;
    others = others || array.memory != MemoryKind::managed;
  }
  if (managed && others)
    throw UsageError(
        fmt::format("{}: some arrays are in managed memory and some are not, and no strategy serves both: have all "
                    "of them managed or none",
                    job.name));
  treat_all_as_pageable_if_one_is(job);
  share_memory_of_prefixes(job);
  return job;
}

void require_kernel(const DeviceInfo& info, const Job& job) {
  if (info.is_virtual && !job.binding.host)
    throw UsageError(fmt::format(
        "{}: {} is a simulated GPU, which calls the host's version of the kernel, and the job has none: give "
        "it one with `.host_kernel`, or plan without a device, as in node_of(profile), where all memory counts as "
        "pinned",
        job.name, info.id));
  if (!info.is_virtual && !job.binding.cuda)
    throw UsageError(fmt::format("{}: {} runs the kernel of the job, and the job has none: give it one with `.kernel`",
                                 job.name, info.id));
}

std::vector<std::span<std::byte>> ranges_to_pin(const Job& job) {
  std::vector<std::span<std::byte>> arrays;
  for (const Array& array : job.arrays)
    if (!stays(array.role) && !is_on_gpu(array) && size_on_host(array).count > 0 && array.data != nullptr)
      arrays.emplace_back(array.data, size_on_host(array).count);
  std::ranges::sort(arrays, {}, [](std::span<std::byte> s) { return s.data(); });
  std::vector<std::span<std::byte>> ranges;
  for (const auto array : arrays) {
    std::byte* const end = array.data() + array.size();
    if (ranges.empty() || ranges.back().data() + ranges.back().size() <= array.data())
      ranges.push_back(array);
    else
      ranges.back() = {ranges.back().data(), std::max(ranges.back().data() + ranges.back().size(), end)};
  }
  return ranges;
}

Facts learn(const Node& node, const Job& job, const PlanOptions& options) {
  require_valid(job);
  Job known = with_memory_kinds(node.device.get(), job);
  const Limits limits = limits_beside(node, known, limits_of(node, options));
  Facts facts{.job = std::move(known), .limits = limits};
  require_sound_reaches(job);
  if (node.device != nullptr)
    facts.job = captured_and_checked(*node.device, options, facts.limits, std::move(facts.job));
  if (facts.job.cost.points.empty()) facts.job.cost = cost_of_kernel(node, options, facts);
  if (node.device != nullptr && options.may_pin && has_pageable_chunks(facts.job))
    facts.why_not_pinned = why_not_pinned(*node.device, facts.job);
  return facts;
}

}  // namespace shiplap
