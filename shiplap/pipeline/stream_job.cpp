#include "shiplap/pipeline/stream_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/time_json.hpp"
#include "shiplap/pipeline/bound.hpp"
#include "shiplap/pipeline/check_reach.hpp"
#include "shiplap/pipeline/probe.hpp"
#include "shiplap/pipeline/profile_cache.hpp"
#include "shiplap/pipeline/race_store.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {
namespace {

/// They lie where the arrays do of which they are the front.
void memory_of_fronts(Job& job) {
  for (Array& array : job.arrays)
    if (array.front_of) array.memory = job.arrays[*array.front_of].memory;
}

/// Arrays in the memory they are really in. What is not page-locked throughout is treated as pageable throughout:
/// strategies know one kind.
Job located(const Device& device, Job job) {
  require_fronts(job);
  bool pageable = false;
  bool managed = false;
  bool others = false;
  for (Array& array : job.arrays) {
    if (size_on_host(array).count == 0) continue;
    array.memory = array.data == nullptr ? array.memory : device.kind_of(array.data);
    if (array.memory == MemoryKind::device)
      throw UsageError(
          fmt::format("{}: {} is in device memory, and jobs take their arrays from the host", job.name, array.name));
    if (stays(array.role)) continue;
    pageable = pageable || array.memory == MemoryKind::pageable;
    managed = managed || array.memory == MemoryKind::managed;
    others = others || array.memory != MemoryKind::managed;
  }
  if (managed && others)
    throw UsageError(
        fmt::format("{}: some arrays are in managed memory and some are not: have all of them alike", job.name));
  for (Array& array : job.arrays)
    if (pageable && !stays(array.role) && array.role != Role::scratch) array.memory = MemoryKind::pageable;
  memory_of_fronts(job);
  return job;
}

/// A kernel that waits for the GPU, or does what cannot be captured, would keep the pipeline from overlapping.
void require_capturable(Device& device, const Job& job, const Limits& limits) {
  if (device.info().is_virtual) return;
  Schedule launch = launch_schedule(job, 1, limits);
  launch.as_graph = true;
  try {
    Prepared(device, std::move(launch), {}, job.binding);
  } catch (const Unsupported&) {
    throw;
  } catch (const Error& error) {
    throw Error(
        fmt::format("the kernel of {} cannot be captured: it must only enqueue work on the stream it is given, "
                    "and neither wait nor allocate ({})",
                    job.name, error.what()));
  }
}

void give_cost(const Node& node, const Limits& limits, const ProbeOptions& options, Job& job) {
  if (!job.cost.points.empty()) return;
  if (!node.device->info().is_virtual) {
    job.cost = probe_kernel(*node.device, job, limits, options);
    return;
  }
  if (job.device_traffic.count == 0)
    for (const Array& array : job.arrays) job.device_traffic += array.size * (array.role == Role::inout ? 2 : 1);
  job.cost = derived_cost(job, node.profile);
}

/// Of several GPUs the first and its link are measured: the others are taken to be like it.
Profile with_gpus(Profile profile, std::uint32_t gpus) {
  while (profile.gpus.size() < gpus) profile.gpus.push_back(profile.gpus.front());
  for (std::uint16_t gpu = 1; gpu < gpus; ++gpu) {
    profile.gpus[gpu] = profile.gpus.front();
    if (profile.links.empty() || std::ranges::find(profile.links, gpu, &LinkModel::gpu) != profile.links.end())
      continue;
    LinkModel link = profile.links.front();
    link.gpu = gpu;
    profile.links.push_back(std::move(link));
  }
  return profile;
}

void require_same_shape(const Job& planned, const Job& given) {
  const auto same = [](const Array& a, const Array& b) {
    const Reach& r = a.reach;
    const Reach& s = b.reach;
    const bool alike = r.before == s.before && r.after == s.after && bool(r.elements) == bool(s.elements);
    return a.name == b.name && a.role == b.role && a.size == b.size && a.element == b.element &&
           a.front_of == b.front_of && alike;
  };
  if (planned.items != given.items || !std::ranges::equal(planned.arrays, given.arrays, same))
    throw UsageError(
        fmt::format("the plan is for {}, and the job to run has other items or arrays: plan it", planned.name));
}

}  // namespace

Node node_of(Device& device, Profile profile) {
  const DeviceInfo info = device.info();
  Node node{.device = &device, .profile = std::move(profile), .limits = {}};
  node.limits = limits_of(node.profile);
  if (!info.is_virtual) node.limits.device_memory = std::min(node.limits.device_memory, info.free_memory / 100 * 95);
  if (info.resident_threads > 0) node.limits.resident_threads = info.resident_threads;
  return node;
}

Node load_or_measure(Device& device, const std::function<void(std::string_view)>& say) {
  const auto measure_now = [&](const MeasureOptions& options, const std::string& command) {
    Measured measured{.result = measure(device, options), .profile = {}};
    measured.profile = profile_from(measured.result, device.info(), command);
    return measured;
  };
  const auto to_stderr = [](std::string_view text) { fmt::print(stderr, "shiplap: {}\n", text); };
  return node_of(device, profile_of(device, measure_now, say ? say : to_stderr));
}

namespace {

/// Plans for pinned arrays where pinning pageable ones pays over the runs. A user who chose strategies, chunks or
/// layouts chose them for the memory as it is, so the arrays then stay pageable.
void choose_to_page_lock(const Profile& profile, const PlanOptions& wanted, const JobOptions& options, JobPlan& plan) {
  if (array_memory(plan.job) != ArrayMemory::pageable || !options.may_page_lock || restricts_choices(wanted)) return;
  const MemoryChoice ways = choose_memory(plan.job, profile, wanted, plan.ranking, options.runs);
  const auto registered = std::ranges::find(ways.ways, "registered", &MemoryWay::name);
  const auto as_it_is = std::ranges::find(ways.ways, "as it is", &MemoryWay::name);
  if (registered == ways.ways.end() || registered->in_all >= as_it_is->in_all) return;
  plan.page_locks = true;
  plan.once = registered->once;
  plan.chosen = registered->best;
  for (Array& array : plan.job.arrays)
    if (!stays(array.role)) array.memory = MemoryKind::pinned;
  memory_of_fronts(plan.job);
}

/// Pins the arrays that are cut. They stay pinned as long as the returned objects live.
std::vector<Memory> page_locked(Device& device, const Job& job) {
  std::vector<Memory> locked;
  for (const Array& array : job.arrays)
    if (!stays(array.role) && size_on_host(array).count > 0 && array.data != nullptr)
      locked.push_back(device.page_lock(array.data, array.size));
  return locked;
}

/// Runs the race among the finalists of the plan and makes the winner the plan's choice.
void decide_by_race(const Node& node, const Profile& profile, const JobOptions& options, JobPlan& plan) {
  Plan ranking = plan.ranking;
  if (plan.page_locks) ranking.candidates = {plan.chosen};
  const RaceField field = race_field(plan.job, profile, ranking, plan.limits, options.plan);
  // A kept winner needs neither pinned arrays nor copies of the originals.
  std::optional<Originals> originals;
  std::vector<Memory> locked;
  const MakeReady make_ready = [&](const Choice& choice) {
    if (!originals && plan.page_locks) locked = page_locked(*node.device, plan.job);
    if (!originals) originals.emplace(plan.job);
    return prepare(*node.device, plan.job, choice, plan.limits);
  };
  PlanOptions wanted = options.plan;
  wanted.gpus = std::max(options.gpus, wanted.gpus);
  plan.race = race_or_kept(node.device->info(),
                           {.job = plan.job,
                            .profile = profile,
                            .limits = plan.limits,
                            .options = wanted,
                            .budget = options.race,
                            .anew = options.race_anew},
                           field, make_ready);
  if (plan.race->best().choice != plan.chosen.choice)
    plan.chosen = predict(plan.job, profile, plan.race->best().choice, plan.limits);
}

}  // namespace

JobPlan plan(const Node& node, const Job& job, const JobOptions& options) {
  Device& device = *node.device;
  const DeviceInfo info = device.info();
  const std::uint32_t gpus = std::max(options.gpus, options.plan.gpus);
  if (gpus > info.gpus)
    throw UsageError(fmt::format("{} has {} GPU{}, not {}: open more of them, as in cuda:0,1", info.id, info.gpus,
                                 info.gpus == 1 ? "" : "s", gpus));
  JobPlan result{.job = located(device, job), .ranking = {}, .chosen = {}, .limits = node.limits};
  for (const Array& array : job.arrays)
    if (!stays(array.role))
      pieces(job, array, split(job, static_cast<std::uint32_t>(std::min<std::uint64_t>(job.items, 64))));
  if (options.plan.device_memory.count > 0)
    result.limits.device_memory = std::min(result.limits.device_memory, options.plan.device_memory);
  require_capturable(device, job, result.limits);
  if (options.check_reach) require_declared_reach(device, job);
  give_cost(node, result.limits, options.probe, result.job);
  PlanOptions wanted = options.plan;
  wanted.device_memory = result.limits.device_memory;
  wanted.gpus = gpus;
  const Profile profile = gpus <= 1 ? node.profile : with_gpus(node.profile, gpus);
  result.ranking = plan(result.job, profile, wanted);
  if (gpus > 1)
    result.ranking.assumptions.push_back(
        "every GPU and its link are like the first, and the host serves all of them at once as fast as one");
  result.chosen = result.ranking.best();
  choose_to_page_lock(profile, wanted, options, result);
  if (options.race > Seconds{0}) decide_by_race(node, profile, options, result);
  return result;
}

Prepared prepare(Device& device, const JobPlan& plan, const Job& given) {
  require_same_shape(plan.job, given);
  Job job = plan.job;
  job.binding = given.binding;
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    job.arrays[a].data = given.arrays[a].data;
    job.arrays[a].reach = given.arrays[a].reach;
  }
  std::vector<Memory> locked;
  if (plan.page_locks) locked = page_locked(device, job);
  Prepared prepared = prepare(device, job, plan.chosen.choice, plan.limits);
  prepared.keep(std::move(locked));
  return prepared;
}

JobReport report_of(const Device& device, const JobPlan& plan, const RunResult& result) {
  return {.job = plan.job.name,
          .device = device.info().id,
          .choice = plan.chosen.choice,
          .predicted = plan.chosen.predicted,
          .observed = result.timeline.makespan,
          .submission = result.submission,
          .host_total = result.host_total};
}

JobReport run(Device& device, const JobPlan& plan, const Job& job, const RunOptions& options) {
  return report_of(device, plan, prepare(device, plan, job).run(options));
}

std::string JobPlan::explain() const {
  const std::string locks =
      page_locks ? fmt::format(" The arrays are page-locked for it, which takes {} once.", shiplap::to_string(once))
                 : "";
  return fmt::format("{}: {}, predicted {} ({} to {}), bound {}.{} {}", job.name, shiplap::to_string(chosen.choice),
                     shiplap::to_string(chosen.predicted.value), shiplap::to_string(chosen.predicted.low),
                     shiplap::to_string(chosen.predicted.high), shiplap::to_string(ranking.bound.value), locks,
                     race ? race->to_string() + "." : ranking.why);
}

Json JobPlan::to_json() const {
  Json json = shiplap::to_json(ranking);
  json["chosen"] = shiplap::to_json(chosen);
  json["page_locks"] = page_locks;
  json["page_locking_ms"] = in_milliseconds(once);
  json["race"] = race ? shiplap::to_json(*race) : Json(nullptr);
  return json;
}

std::string JobReport::to_string() const {
  return fmt::format("{} on {}: {}, predicted {} ({} to {}), observed {}", job, device, shiplap::to_string(choice),
                     shiplap::to_string(predicted.value), shiplap::to_string(predicted.low),
                     shiplap::to_string(predicted.high), shiplap::to_string(observed));
}

Json JobReport::to_json() const {
  return {{"schema", "shiplap/job-report"},
          {"version", 1},
          {"job", job},
          {"device", device},
          {"choice", shiplap::to_json(choice)},
          {"predicted_ms", milliseconds_json(predicted)},
          {"observed_ms", in_milliseconds(observed)},
          {"submission_ms", in_milliseconds(submission)},
          {"host_total_ms", in_milliseconds(host_total)}};
}

}  // namespace shiplap
