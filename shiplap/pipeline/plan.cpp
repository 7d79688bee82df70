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
#include "shiplap/plan/relays.hpp"
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
  if (options.space.given && options.race > Seconds{0})
    throw UsageError("`race` and a saved plan: nothing races where the choice is given; leave one out");
  if (options.space.gpus == 0) throw UsageError("`gpus` 0: a job runs on at least 1 GPU");
  if (options.space.gpus > most_gpus)
    throw UsageError(fmt::format("`gpus` is too large: a job is shared among at most {} GPUs", most_gpus));
  if (!options.space.relays.empty() && options.space.gpus > 1)
    throw UsageError("`relays` and `gpus`: GPUs that share a job use all of their links themselves; leave one out");
  for (const std::uint16_t gpu : options.space.relays)
    if (std::ranges::count(options.space.relays, gpu) > 1)
      throw UsageError(fmt::format("`relays` names GPU {} twice", gpu));
  for (const std::uint16_t gpu : options.space.relays)
    if (gpu == 0 || gpu >= most_gpus)
      throw UsageError(
          fmt::format("`relays` names GPU {}: name GPUs 1 to {}, beside GPU 0 of the job", gpu, most_gpus - 1));
}

/// Pins the job's arrays during a race if the plan pins them, and restores their values at the end.
class RacedArrays {
 public:
  RacedArrays(Device& device, const Plan& plan) : originals_(device, plan.job) {
    if (plan.pins) pinned_ = pin_arrays(device, plan.job);
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
  PlanOptions options = options_for(node, job, given);
  std::vector<std::string> said_of_relays;
  options.space = with_idle_relays(node, std::move(options.space), said_of_relays);
  const Facts facts = learn(node, job, options);
  const Profile profile = profile_of_gpus(node, gpus_of(options.space));
  Plan result{decide(profile, facts, {options.space, options.runs, options.may_pin})};
  if (node.device != nullptr && node.device->is_virtual()) result.virtual_device = node.device->info().id;
  std::ranges::move(said_of_relays, std::back_inserter(result.ranking.assumptions));
  if (options.space.gpus > 1)
    result.ranking.assumptions.push_back(assumption_of_gpus(profile_of(node), options.space.gpus));
  if (options.race > Seconds{0}) result.race = race_of(*node.device, profile, options, result);
  settle(profile, result.race ? std::optional(result.race->best().choice) : std::nullopt, result);
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

Json Plan::to_json() const { return shiplap::to_json(plan_view(*this)); }

}  // namespace shiplap
