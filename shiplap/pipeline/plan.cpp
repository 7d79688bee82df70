#include "shiplap/pipeline/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/device/device_name.hpp"
#include "shiplap/pipeline/captured_kernel.hpp"
#include "shiplap/pipeline/check_reach.hpp"
#include "shiplap/pipeline/contiguous_job.hpp"
#include "shiplap/pipeline/ideal_overlap.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/pipeline/race_store.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {
namespace {

/// The job with the kinds of memory that its arrays are in, as the device reports them. A strategy uses one kind of
/// memory, so when one array is pageable, all are treated as pageable.
Job with_memory_kinds(const Device* device, Job job) {
  std::optional<std::uint32_t> pageable{};
  bool managed = false;
  bool others = false;
  for (Array& array : job.arrays) {
    if (size_on_host(array).count == 0) continue;
    if (device != nullptr && array.data != nullptr) array.memory = device->kind_of(array.data, size_on_host(array));
    if (array.memory == MemoryKind::device)
      throw UsageError(
          fmt::format("{}: array {} is in device memory, and a job brings its arrays from the host to the GPU: give it "
                      "memory of the host, and let the kernel refer to what is on the GPU already",
                      job.name, array.name));
    if (stays(array.role)) continue;
    if (!pageable && array.memory == MemoryKind::pageable)
      pageable = static_cast<std::uint32_t>(&array - job.arrays.data());
    managed = managed || array.memory == MemoryKind::managed;
    others = others || array.memory != MemoryKind::managed;
  }
  if (managed && others)
    throw UsageError(
        fmt::format("{}: some arrays are in managed memory and some are not, and no strategy serves both: have all "
                    "of them managed or none",
                    job.name));
  for (Array& array : job.arrays) {
    if (!pageable || stays(array.role) || array.role == Role::scratch || array.memory == MemoryKind::pageable) continue;
    array.memory = MemoryKind::pageable;
    array.forced_pageable_by = pageable;
  }
  share_memory_of_prefixes(job);
  return job;
}

/// Throws UsageError for a job without the function that the device calls.
void require_kernel(const DeviceInfo& info, const Job& job) {
  if (info.is_virtual && !job.binding.host)
    throw UsageError(fmt::format(
        "{}: {} is a simulated GPU, which calls the host's version of the kernel, and the job has none: give "
        "it one with `.host_kernel`, or plan without a device, as in node_of(profile)",
        job.name, info.id));
  if (!info.is_virtual && !job.binding.cuda)
    throw UsageError(fmt::format("{}: {} runs the kernel of the job, and the job has none: give it one with `.kernel`",
                                 job.name, info.id));
}

/// Throws UsageError for options that are out of range.
void require_valid(const PlanOptions& options) {
  if (options.runs == 0) throw UsageError("`runs` 0: a job is planned for at least 1 run over its arrays");
  if (!std::isfinite(options.race.count()) || options.race < Seconds{0})
    throw UsageError(
        fmt::format("`race` {} s: the time for a race must be finite and at least 0", options.race.count()));
  if (options.space.gpus == 0) throw UsageError("`gpus` 0: a job runs on at least 1 GPU");
  if (options.space.gpus > most_gpus)
    throw UsageError(fmt::format("`gpus` is too large: a job is shared among at most {} GPUs", most_gpus));
}

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

/// The ranges of host memory of the arrays that are cut. Arrays that share memory are one range, because memory can be
/// pinned once only.
std::vector<std::span<std::byte>> ranges_to_pin(const Job& job) {
  std::vector<std::span<std::byte>> arrays;
  for (const Array& array : job.arrays)
    if (!stays(array.role) && size_on_host(array).count > 0 && array.data != nullptr)
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

/// Changes the plan to pinned arrays if pinning the pageable ones pays over the runs, and they can be pinned.
void choose_to_pin(Device* device, const Profile& profile, const PlanOptions& options, Plan& plan) {
  if (!options.may_pin || !has_pageable_chunks(plan.job)) return;
  plan.memory = std::make_shared<const MemoryChoice>(
      choose_memory(plan.job, profile, plan.limits, options.space, plan.ranking, options.runs,
                    device != nullptr ? why_not_pinned(*device, plan.job) : ""));
  if (array_memory(plan.job) != ArrayMemory::pageable || !allows_pinned(options.space)) return;
  const MemoryWay* const registered = plan.memory->find(Preparation::registered);
  if (registered == nullptr || registered->total_time >= plan.memory->find(Preparation::none)->total_time) return;
  plan.pins = true;
  plan.pinning = registered->setup_time;
  plan.job = with_pinned_chunks(std::move(plan.job));
  plan.ranking = *plan.memory->pinned;
  plan.chosen = plan.ranking.best();
  for (Refused& refused : plan.ranking.refused)
    if (find_strategy(refused.strategy).memory == ArrayMemory::pageable)
      refused.reason = fmt::format("the plan pins the arrays, which is faster from {} run{} on", *registered->pays_from,
                                   *registered->pays_from == 1 ? "" : "s");
}

/// Ranks the choices for the arrays as they are, and decides whether to pin them. Choices that the space leaves open
/// for pinned arrays alone are weighed against the best choice of all for the arrays as they are.
void rank_and_choose_memory(Device* device, const Profile& profile, const PlanOptions& options, Plan& plan) {
  std::string refusal;
  try {
    plan.ranking = rank(plan.job, profile, plan.limits, options.space);
  } catch (const Unsupported& error) {
    if (!options.may_pin || array_memory(plan.job) != ArrayMemory::pageable || !allows_pinned(options.space)) throw;
    refusal = error.what();
    try {
      plan.ranking = rank(plan.job, profile, plan.limits,
                          {.closed_forms = options.space.closed_forms, .gpus = options.space.gpus});
    } catch (const Unsupported&) {
      throw Unsupported(refusal);
    }
  }
  plan.chosen = plan.ranking.best();
  choose_to_pin(device, profile, options, plan);
  if (refusal.empty() || plan.pins) return;
  const MemoryWay* const registered = plan.memory->find(Preparation::registered);
  if (registered == nullptr || !registered->pays_from) throw Unsupported(refusal);
  throw Unsupported(fmt::format("{}\n  With {} `runs` or more over the same arrays, a plan pins them.", refusal,
                                *registered->pays_from));
}

/// Pins the arrays that are cut. They stay pinned as long as the returned objects live.
std::vector<Memory> pinned(Device& device, const Job& job) {
  std::vector<Memory> pins;
  for (const std::span<std::byte> range : ranges_to_pin(job))
    pins.push_back(device.pin(range.data(), Bytes{range.size()}));
  return pins;
}

/// Pins the job's arrays during a race if the plan pins them, and restores their values at the end.
class RacedArrays {
 public:
  RacedArrays(Device& device, const Plan& plan) : originals_(plan.job) {
    if (plan.pins) pinned_ = pinned(device, plan.job);
  }
  RacedArrays(const RacedArrays&) = delete;
  RacedArrays& operator=(const RacedArrays&) = delete;
  ~RacedArrays() { originals_.restore(); }

 private:
  Originals originals_;
  std::vector<Memory> pinned_;
};

/// Runs the race among the finalists of the plan and makes the winner the plan's choice.
void decide_by_race(Device& device, const Profile& profile, const PlanOptions& options, Plan& plan) {
  const RaceField field = race_field(plan.job, profile, plan.ranking, plan.limits, options.space);
  // A cached winner needs neither pinned arrays nor copies of the originals.
  std::optional<RacedArrays> arrays;
  const MakeReady make_ready = [&](const Candidate& candidate) {
    if (!arrays) arrays.emplace(device, plan);
    return prepare(device, plan.job, candidate);
  };
  const RaceTerms terms{.job = plan.job,
                        .profile = profile,
                        .limits = plan.limits,
                        .space = options.space,
                        .budget = options.race,
                        .anew = options.race_anew};
  plan.race = std::make_shared<const RaceResult>(race_or_kept(device.info(), terms, field, make_ready));
  if (plan.race->best().choice != plan.chosen.choice)
    plan.chosen = predict(plan.job, profile, plan.race->best().choice, plan.limits);
}

/// Says when the chunks have fewer blocks than the GPU has SMs and the time of the kernel is in proportion to the
/// items.
void note_small_launches(const Profile& profile, Plan& plan) {
  const Job& job = plan.job;
  const Choice& choice = plan.chosen.choice;
  if (job.items_per_block == 1 || job.cost.points.size() != 1 || choice.chunks == 1) return;
  const std::uint64_t blocks = blocks_of(job, job.items / choice.gpus / choice.chunks);
  const unsigned sm_count = profile.gpus.front().sm_count;
  if (blocks >= sm_count) return;
  plan.ranking.assumptions.push_back(fmt::format(
      "the kernel takes time in proportion to the items, although a chunk has {} block{} for {} SMs and may "
      "take as long as one of {} blocks: measure the kernel, or ask for fewer `chunks`",
      blocks, blocks == 1 ? "" : "s", sm_count, sm_count));
}

/// Throws UsageError when the device has fewer GPUs.
void require_gpus(const DeviceInfo& info, std::uint32_t gpus) {
  if (gpus <= info.gpus) return;
  const std::optional<std::string> name = name_with_gpus(info.id, gpus);
  throw UsageError(fmt::format("{} has {} GPU{}, not {}: open more of them{}", info.id, info.gpus,
                               info.gpus == 1 ? "" : "s", gpus, name ? ", as in " + *name : ""));
}

/// What a plan for several GPUs assumes.
std::string assumption_of_gpus(const Profile& profile, std::uint32_t gpus) {
  const std::string host = "the host is as fast for all of them together as for one";
  const std::uint32_t own = own_gpus(profile);
  if (own >= gpus) return fmt::format("{} GPUs: {}", gpus, host);
  if (own <= 1) return fmt::format("every GPU and its link are like the first, and {}", host);
  return fmt::format("the GPUs from GPU {} on and their links are like the first, and {}", own, host);
}

/// Checks that the device can run the job, and counts the launches of its kernel.
void capture_and_check(Device& device, const PlanOptions& options, Plan& plan) {
  const DeviceInfo info = device.info();
  if (info.is_virtual) plan.virtual_device = info.id;
  require_kernel(info, plan.job);
  require_gpus(info, options.space.gpus);
  plan.job = as_captured(device, std::move(plan.job), plan.limits);
  if (options.check_reach) require_declared_reach(device, ContiguousJob(device, plan.job).job());
}

/// The cost of the kernel, measured on a GPU and derived elsewhere.
KernelCost cost_of_kernel(const Node& node, const PlanOptions& options, const Plan& plan) {
  if (!node.has_gpu()) return derived_cost(node, plan.job);
  require_arrays_to_probe(plan.job);
  ProbeOptions probe = options.probe;
  if (has_blocks(plan.job)) probe.zero_copy = Seconds{0};  // zero-copy strategies do not support blocks
  return probe_kernel(*node.device, ContiguousJob(*node.device, plan.job).job(), plan.limits, probe);
}

/// The options for this node. A choice for a device will be run there, so it must be simulated: a virtual device runs
/// by simulation.
PlanOptions options_for(const Node& node, PlanOptions options) {
  options.space.closed_forms = options.space.closed_forms && node.device == nullptr;
  return options;
}

/// The limits of the node, and of the options where these allow less.
Limits limits_of(const Node& node, const PlanOptions& options) {
  return options.device_memory.count > 0 ? node.limits.at_most(options.device_memory) : node.limits;
}

}  // namespace

Plan plan(const Node& node, const Job& job, const PlanOptions& given) {
  require_valid(job);
  require_valid(given);
  const PlanOptions options = options_for(node, given);
  Plan result{.job = with_memory_kinds(node.device.get(), job),
              .ranking = {},
              .chosen = {},
              .limits = limits_of(node, options)};
  require_sound_reaches(job);
  if (node.device != nullptr)
    capture_and_check(*node.device, options, result);
  else if (options.check_reach || options.race > Seconds{0})
    throw UsageError(
        fmt::format("{}: `check_reach` and `race` run the kernel, and the node with profile {} has no device: plan for "
                    "a node with a device, which may be virtual",
                    job.name, profile_of(node).name));
  if (result.job.cost.points.empty()) result.job.cost = cost_of_kernel(node, options, result);
  const Profile profile = profile_of_gpus(node, options.space.gpus);
  rank_and_choose_memory(node.device.get(), profile, options, result);
  if (options.space.gpus > 1)
    result.ranking.assumptions.push_back(assumption_of_gpus(profile_of(node), options.space.gpus));
  if (options.race > Seconds{0}) decide_by_race(*node.device, profile, options, result);
  note_small_launches(profile, result);
  if (job.waits)
    result.ranking.assumptions.push_back("the kernel waits for the GPU, and the host submits nothing meanwhile");
  if (!job.capturable)
    result.ranking.assumptions.push_back(
        "the kernel is not captured: no candidate is a graph, and its launches are not counted");
  return result;
}

void run_kernel_once(const Node& node, const Job& given, const PlanOptions& options) {
  require_valid(given);
  MeasurableDevice& device = device_of(node, given.name);
  require_kernel(device.info(), given);
  const Limits limits = limits_of(node, options);
  const ContiguousJob contiguous(device, with_memory_kinds(&device, given));
  const Job& job = contiguous.job();
  const std::uint64_t items = items_that_fit(job, std::max<std::uint64_t>(1, job.items / 8), limits);
  prepare_launch(device, job, items, limits).run();
}

bool has_reach_by_function(const Job& job) {
  return std::ranges::any_of(job.arrays, [](const Array& array) { return bool(array.reach.elements); });
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

Prepared prepare(Device& device, const Plan& plan, const Job& given) {
  const Job job = planned_job(plan, given);
  std::vector<Memory> pinned_arrays;
  if (plan.pins) pinned_arrays = pinned(device, job);
  Prepared prepared = has_reach_by_function(job) ? prepare(device, job, plan.chosen.choice, plan.limits)
                                                 : prepare(device, job, plan.chosen);
  prepared.keep(std::move(pinned_arrays));
  return prepared;
}

Json shape_json(const Job& job) {
  return {{"bytes_in", quantity_json(bytes_in(job))},
          {"bytes_out", quantity_json(bytes_out(job))},
          {"memory", to_string(memory_of(job))},
          {"kernel", job.cost.points.empty() ? Json(nullptr) : quantity_json(kernel_time(job, job.items, 0))}};
}

Json Plan::to_json() const {
  Json json = shiplap::to_json(ranking);
  json["shape"] = shape_json(job);
  json["chosen"] = shiplap::to_json(chosen);
  json["pins"] = pins;
  json["pinning"] = quantity_json(pinning);
  json["memory"] = memory ? shiplap::to_json(*memory) : Json(nullptr);
  json["race"] = race ? shiplap::to_json(*race) : Json(nullptr);
  return json;
}

}  // namespace shiplap
