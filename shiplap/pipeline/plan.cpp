#include "shiplap/pipeline/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/contiguous_job.hpp"
#include "shiplap/pipeline/ideal_overlap.hpp"
#include "shiplap/pipeline/learn.hpp"
#include "shiplap/pipeline/plan_view.hpp"
#include "shiplap/pipeline/planned_job.hpp"
#include "shiplap/pipeline/race_store.hpp"
#include "shiplap/plan/decide.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {
namespace {

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
  RacedArrays(Device& device, const Plan& plan) : originals_(device, plan.job) {
    if (plan.pins) pinned_ = pinned(device, plan.job);
  }
  RacedArrays(const RacedArrays&) = delete;
  RacedArrays& operator=(const RacedArrays&) = delete;
  ~RacedArrays() {
    if (!restored_) originals_.restore_after_failure();
  }
  void restore() {
    restored_ = true;
    originals_.restore();
  }

 private:
  bool restored_ = false;
  Originals originals_;
  std::vector<Memory> pinned_;
};

/// The race among the finalists of the plan, or the cached one of such a job.
std::shared_ptr<const RaceResult> race_of(Device& device, const Profile& profile, const PlanOptions& options,
                                          const Plan& plan) {
  // Each candidate runs three times at least, so a short race of long runs has few of them.
  constexpr double fewest = 3;
  constexpr double most = 12;
  const double affordable = options.race / (3 * plan.ranking.best().predicted.value);
  const RaceField field = race_field(plan.job, profile, plan.ranking, plan.limits, options.space,
                                     static_cast<std::size_t>(std::clamp(affordable, fewest, most)));
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
  auto result = std::make_shared<const RaceResult>(race_or_kept(device.info(), terms, field, make_ready));
  if (arrays) arrays->restore();
  return result;
}

/// What a plan for several GPUs assumes.
std::string assumption_of_gpus(const Profile& profile, std::uint32_t gpus) {
  const std::string host = "the host is as fast for all of them together as for one";
  const std::uint32_t own = own_gpus(profile);
  if (own >= gpus) return fmt::format("{} GPUs: {}", gpus, host);
  if (own <= 1) return fmt::format("every GPU and its link are like the first, and {}", host);
  return fmt::format("the GPUs from GPU {} on and their links are like the first, and {}", own, host);
}

/// The few choices that a quick plan compares.
SearchSpace space_of_quick_plan(SearchSpace space, const Job& job) {
  if (space.strategies.empty()) space.strategies = {"explicit", "streams", "pageable", "staged", "managed-prefetch"};
  if (space.chunks.empty()) {
    space.chunks = {1, 8, 32, 128};
    std::erase_if(space.chunks, [most = std::max<std::uint64_t>(1, job.items / std::max(1u, space.gpus))](
                                    std::uint32_t chunks) { return chunks > most; });
  }
  if (space.layouts.empty()) space.layouts = {Layout::three};
  if (space.ramps.empty()) space.ramps = {Ramp{}};
  space.fewer_calls = false;
  return space;
}

/// The options for this node. A choice for a device will be run there, so it must be simulated: a virtual device runs
/// by simulation.
PlanOptions options_for(const Node& node, const Job& job, PlanOptions options) {
  options.space.closed_forms = options.space.closed_forms && node.device == nullptr;
  if (options.quick) {
    options.space = space_of_quick_plan(std::move(options.space), job);
    options.may_pin = false;
  }
  return options;
}

}  // namespace

Plan plan(const Node& node, const Job& job, const PlanOptions& given) {
  require_valid(job);
  require_valid(given);
  if (node.device == nullptr && (given.check_reach || given.race > Seconds{0}))
    throw UsageError(
        fmt::format("{}: `check_reach` and `race` run the kernel, and the node with profile {} has no device: plan for "
                    "a node with a device, which may be virtual",
                    job.name, profile_of(node).name));
  const PlanOptions options = options_for(node, job, given);
  const Facts facts = learn(node, job, options);
  const Profile profile = profile_of_gpus(node, options.space.gpus);
  Plan result{decide(profile, facts, {options.space, options.runs, options.may_pin})};
  if (node.device != nullptr && node.device->is_virtual()) result.virtual_device = node.device->info().id;
  if (options.space.gpus > 1)
    result.ranking.assumptions.push_back(assumption_of_gpus(profile_of(node), options.space.gpus));
  if (options.race > Seconds{0}) result.race = race_of(*node.device, profile, options, result);
  settle(profile, result.race ? std::optional(result.race->best().choice) : std::nullopt, result);
  return result;
}

Limits limits_of(const Node& node, const PlanOptions& options) {
  return options.device_memory.count > 0 ? node.limits.at_most(options.device_memory) : node.limits;
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
  for (const Array& array : job.arrays)
    if (array.data != nullptr && (device.kind_of(array.data) == MemoryKind::device) != is_on_gpu(array))
      throw UsageError(fmt::format("{}: array {} is {} the GPU, and was {}when the job was planned: plan this job",
                                   job.name, array.name, is_on_gpu(array) ? "not on" : "on",
                                   is_on_gpu(array) ? "" : "not "));
  std::vector<Memory> pinned_arrays;
  if (plan.pins) pinned_arrays = pinned(device, job);
  Prepared prepared = has_reach_by_function(job) ? prepare(device, job, plan.chosen.choice, plan.limits)
                                                 : prepare(device, job, plan.chosen);
  prepared.keep(std::move(pinned_arrays));
  return prepared;
}

Json Plan::to_json() const { return shiplap::to_json(plan_view(*this)); }

}  // namespace shiplap
