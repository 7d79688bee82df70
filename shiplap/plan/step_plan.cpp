#include "shiplap/plan/step_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/bound.hpp"
#include "shiplap/plan/step_flow.hpp"
#include "shiplap/plan/step_passes.hpp"
#include "shiplap/plan/step_schedule.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/array_place.hpp"
#include "shiplap/workload/fused_job.hpp"

namespace shiplap {
namespace {

/// The most kernels in a pass. Halos, and with them what is computed twice, grow with each of them.
constexpr std::size_t most_kernels_of_pass = 32;
/// Homes take at most this fraction of the device memory; chunks of other arrays pass through the rest.
constexpr double most_for_homes = 0.9;

/// Passes are cut alike where they have at most this many different choices: each takes a simulation of the whole step.
constexpr std::size_t most_common_choices = 6;

/// A way to run the step: the homes and where passes begin.
struct Layer {
  std::vector<bool> at_home;
  std::vector<std::size_t> ends;  ///< ends of the passes, by position
  Seconds estimate{0};
};

Step without_kept(Step step) {
  for (auto& part : step.parts)
    if (Job* const job = std::get_if<Job>(&part))
      for (Array& array : job->arrays) array.kept = false;
  return step;
}

class StepSearch {
 public:
  StepSearch(const Profile& profile, const Step& step, const StepArrays& arrays, const Limits& limits)
      : profile_(profile),
        step_(without_kept(step)),
        arrays_(arrays),
        limits_(limits),
        flow_(step_, arrays_),
        passes_(profile, step_, arrays_, limits, flow_) {}

  /// Throws UsageError for arrays that are not where the step says.
  void require_places() const {
    for (std::size_t a = 0; a < arrays_.arrays.size(); ++a) {
      const auto& [array, names, between] = arrays_.arrays[a];
      if (is_on_gpu(array) && between != Between::host)
        throw UsageError(fmt::format("{}: {} is on the GPU already: leave out `.temporary` and `.stays_on_gpu` for it",
                                     step_.name, array.name));
      for (std::size_t p = 0; p < step_.parts.size(); ++p) {
        const auto use = flow_.role(p, a);
        if (use && between == Between::temporary && *use != Role::out && flow_.is_needed(0, a) && !flow_.has_mapping(a))
          throw UsageError(fmt::format("{}: {} is temporary, and {} reads it before a kernel has written it",
                                       step_.name, array.name, flow_.job(p)->name));
        if (use) break;
        const HostPart* const host = flow_.host(p);
        if (host == nullptr) continue;
        const std::vector<AccessOfHost> accesses = flow_.accesses(*host);
        if (std::ranges::any_of(accesses, [&](const AccessOfHost& one) { return one.region.array == a; })) break;
      }
      for (const auto& part : step_.parts)
        if (const auto* host = std::get_if<HostPart>(&part); host != nullptr && is_on_gpu(array))
          for (const AccessOfHost& access : flow_.accesses(*host))
            if (access.region.array == a)
              throw UsageError(
                  fmt::format("{}: {} accesses {}, which is on the GPU", step_.name, host->name, array.name));
    }
  }

  /// The best plan. A quick one is neither refined nor compared with the kernels one by one.
  StepPlan best(bool quick) {
    require_places();
    std::optional<StepPlan> best;
    std::string refusal;
    std::vector<Layer> seen;
    const auto consider = [&](Layer layer) {
      const auto same = [&](const Layer& other) { return other.at_home == layer.at_home && other.ends == layer.ends; };
      if (layer.ends.empty() || std::ranges::any_of(seen, same)) return;
      try {
        StepPlan plan = joined(layer);
        if (!best || plan.predicted.value < best->predicted.value) best = std::move(plan);
      } catch (const Unsupported& why) {
        refusal = why.what();
      }
      seen.push_back(std::move(layer));
    };
    consider(one_by_one(std::vector<bool>(arrays_.arrays.size())));
    for (const std::vector<bool>& homes : homes_worth_trying()) consider(partitioned(homes));
    if (!best) throw Unsupported(fmt::format("{}: {}", step_.name, refusal));
    if (!quick) refine(*best);
    try_graph(*best);
    add_intervals(*best);
    if (!quick) best->part_by_part = part_by_part();
    best->bound = bound_of_step();
    return *std::move(best);
  }

 private:
  std::size_t end_of_kernels(std::size_t position) const {
    while (position < flow_.parts() && flow_.job(position) != nullptr) ++position;
    return position;
  }

  Layer one_by_one(const std::vector<bool>& at_home) const {
    Layer layer{.at_home = at_home, .ends = {}};
    for (std::size_t p = 0; p < flow_.parts(); ++p)
      if (flow_.job(p) != nullptr) layer.ends.push_back(p + 1);
    return layer;
  }

  /// The fastest partition into passes by the estimates.
  Layer partitioned(const std::vector<bool>& at_home) {
    const std::vector<PartFlow> flows = flow_.with_homes(at_home);
    const std::size_t n = flow_.parts();
    constexpr Seconds never{std::numeric_limits<double>::infinity()};
    std::vector<Seconds> best(n + 1, never);
    std::vector<std::size_t> from(n + 1, n);
    best[0] = Seconds{0};
    for (std::size_t p = 0; p < n; ++p) {
      if (best[p] == never) continue;
      if (flow_.host(p) != nullptr) {
        if (best[p] < best[p + 1]) best[p + 1] = best[p], from[p + 1] = p;
        continue;
      }
      const std::size_t end = std::min(end_of_kernels(p), p + most_kernels_of_pass);
      for (std::size_t q = p + 1; q <= end; ++q) {
        PassKey key;
        const Seconds time = best[p] + passes_.pass(p, q, at_home, flows, key).estimate;
        if (time < best[q]) best[q] = time, from[q] = p;
      }
    }
    Layer layer{.at_home = at_home, .ends = {}, .estimate = best[n]};
    if (best[n] == never) return layer;
    for (std::size_t p = n; p > 0; p = from[p])
      if (flow_.host(p - 1) == nullptr) layer.ends.push_back(p);
    std::ranges::reverse(layer.ends);
    return layer;
  }

  /// Bytes of an array that cross the link in a step, with its home or without.
  double crossing(const Layer& layer, std::size_t array, bool at_home) {
    std::vector<bool> homes = layer.at_home;
    homes[array] = at_home;
    const std::vector<PartFlow> flows = flow_.with_homes(homes);
    double bytes = 0;
    std::size_t begin = 0;
    for (const std::size_t end : layer.ends) {
      while (flow_.host(begin) != nullptr) ++begin;
      PassKey key;
      const PassJob& one = passes_.pass(begin, end, homes, flows, key);
      for (std::size_t a = 0; one.job && a < one.arrays.size(); ++a) {
        if (one.arrays[a] != array) continue;
        const Array& used = one.job->arrays[a];
        if (used.role != Role::out && arrives(used)) bytes += in_bytes(used.size);
        if (is_written(used.role) && leaves(used)) bytes += in_bytes(used.size);
      }
      begin = end;
    }
    return bytes;
  }

  /// Sets of arrays with a home, from none to all that fit: those first that save the most for their size.
  std::vector<std::vector<bool>> homes_worth_trying() {
    std::vector<bool> homes(arrays_.arrays.size());
    std::vector<std::vector<bool>> all{homes};
    const Layer streamed = partitioned(homes);
    const Layer& layer = streamed.ends.empty() ? one_by_one(homes) : streamed;
    std::vector<std::pair<double, std::size_t>> gains;
    for (std::size_t a = 0; a < arrays_.arrays.size(); ++a) {
      const Array& array = arrays_.arrays[a].array;
      if (array.size.count == 0 || is_on_gpu(array) || array.blocks) continue;
      const double saved = crossing(layer, a, false) - crossing(layer, a, true);
      gains.emplace_back(saved / in_bytes(array.size), a);
    }
    std::ranges::sort(gains, std::greater<>());
    const double most = most_for_homes * in_bytes(limits_.device_memory);
    double used = 0;
    for (const auto& [gain, array] : gains) {
      const double size = in_bytes(arrays_.arrays[array].array.size);
      if (used + size > most) continue;
      used += size;
      homes[array] = true;
      all.push_back(homes);
    }
    // A few of many: each takes a simulation of the whole step.
    constexpr std::size_t most_sets = 6;
    std::vector<std::vector<bool>> few;
    for (std::size_t i = 0; i < std::min(most_sets, all.size()); ++i)
      few.push_back(all[all.size() <= most_sets ? i : i * (all.size() - 1) / (most_sets - 1)]);
    return few;
  }

  /// The plan of a layer. Each pass has the choice that is best for it alone, or that of all passes with its strategy.
  StepPlan joined(const Layer& layer, const Choice* of_all = nullptr) {
    StepPlan plan{.name = step_.name,
                  .parts = {},
                  .repeats = step_.repeats,
                  .arrays = arrays_,
                  .at_home = layer.at_home,
                  .limits = limits_};
    for (const auto& part : step_.parts) plan.parts.push_back(name_of_part(part));
    const std::vector<PartFlow> flows = flow_.with_homes(layer.at_home);
    std::vector<std::shared_ptr<const Schedule>> schedules;
    std::map<PassKey, std::size_t> kinds;
    std::size_t begin = 0;
    for (const std::size_t end : layer.ends) {
      while (flow_.host(begin) != nullptr) ++begin;
      PassKey key;
      const PassJob& one = passes_.pass(begin, end, layer.at_home, flows, key);
      if (!one.job) throw Unsupported(one.refusal);
      const auto [kind, is_new] = kinds.try_emplace(key, plan.kinds.size());
      if (is_new) {
        const RankedPass& best = passes_.ranked(key, layer.at_home, one);
        if (!best.best) throw Unsupported(fmt::format("{}: {}", one.job->name, best.refusal));
        const bool is_own = of_all == nullptr || of_all->strategy != best.best->choice.strategy;
        add_kind(one, best, is_own ? best.best->choice : *of_all, plan);
        schedules.push_back(is_own && best.best->schedule ? best.best->schedule : schedule_of(plan.kinds.back()));
        count_bytes(*schedules.back(), plan.kinds.back());
      }
      plan.passes.push_back({.first = begin, .parts = end - begin, .kind = kind->second});
      begin = end;
    }
    require_memory_of_temporaries(plan);
    join_passes(step_, flow_, schedules, plan);
    plan.timeline = simulate(*plan.schedule, profile_).timeline;
    plan.predicted = Interval<Seconds>::exact(plan.timeline.makespan);
    return plan;
  }

  static std::shared_ptr<const Schedule> schedule_of(const KindOfPass& kind) {
    const Strategy& strategy = find_strategy(kind.choice.strategy);
    return std::make_shared<const Schedule>(strategy.schedule(kind.job, kind.choice, kind.limits));
  }

  /// Predicts each pass alone with its interval. The interval of the step has the same relative width as their sum.
  void add_intervals(StepPlan& plan) {
    Interval<Seconds> sum = Interval<Seconds>::exact(Seconds{0});
    for (std::size_t k = 0; k < plan.kinds.size(); ++k) {
      KindOfPass& kind = plan.kinds[k];
      kind.predicted = predict(kind.job, profile_, kind.choice, kind.limits).predicted;
      const auto times = static_cast<double>(std::ranges::count(plan.passes, k, &StepPass::kind));
      sum = {sum.value + kind.predicted.value * times, sum.low + kind.predicted.low * times,
             sum.high + kind.predicted.high * times};
    }
    const Seconds time = plan.predicted.value;
    if (sum.value <= Seconds{0}) return;
    plan.predicted = {time, time * (sum.low / sum.value), time * (sum.high / sum.value)};
  }

  /// Numbers of chunks near the best one of a pass alone. Whether the next pass waits for the last chunk's slot depends
  /// on them.
  static std::vector<std::uint32_t> chunks_around(std::uint32_t chunks) {
    if (chunks <= 2) return {chunks};
    return {chunks, chunks - 1, chunks + 1, chunks - 2, chunks + 2};
  }

  /// Tries what the comparison of plans has left out: chunks of growing sizes in the passes of the plan, and passes
  /// that are all cut alike. A pass begins while the one before it ends where their rings are in the same memory.
  void refine(StepPlan& plan) {
    Layer layer{.at_home = plan.at_home, .ends = {}};
    for (const StepPass& one : plan.passes) layer.ends.push_back(one.first + one.parts);
    const auto attempt = [&](const Choice* of_all) {
      std::vector<Choice> choices;
      try {
        StepPlan refined = joined(layer, of_all);
        for (const KindOfPass& kind : refined.kinds)
          if (std::ranges::find(choices, kind.choice) == choices.end()) choices.push_back(kind.choice);
        if (refined.predicted.value < plan.predicted.value) plan = std::move(refined);
      } catch (const Error&) {  // a pass cannot be cut so: the plan stays as it is
      }
      return choices;
    };
    for (const bool with_ramps : {false, true}) {
      if (with_ramps) passes_.refine();
      const std::vector<Choice> choices = attempt(nullptr);
      if (choices.size() > most_common_choices) continue;
      for (Choice choice : choices)
        for (const std::uint32_t chunks : chunks_around(choice.chunks)) {
          choice.chunks = chunks;
          attempt(&choice);
        }
    }
  }

  /// Submits the whole step in one call where that is faster.
  void try_graph(StepPlan& plan) const {
    const auto is_capturable = [](const auto& part) {
      const Job* const job = std::get_if<Job>(&part);
      return job != nullptr && job->capturable;
    };
    if (!std::ranges::all_of(step_.parts, is_capturable) || plan.schedule->agents.size() > 1 ||
        !can_be_held(*plan.schedule))
      return;
    Schedule graph = *plan.schedule;
    graph.as_graph = true;
    try {
      Timeline timeline = simulate(graph, profile_).timeline;
      if (timeline.makespan >= plan.timeline.makespan) return;
      plan.predicted = Interval<Seconds>::exact(timeline.makespan);
      plan.timeline = std::move(timeline);
      plan.schedule = std::make_shared<const Schedule>(std::move(graph));
    } catch (const Unsupported&) {  // the profile has no figures of graphs
    }
  }

  static void add_kind(const PassJob& one, const RankedPass& ranked, const Choice& choice, StepPlan& plan) {
    plan.kinds.push_back({.job = *one.job,
                          .arrays = one.arrays,
                          .choice = choice,
                          .limits = ranked.limits,
                          .predicted = ranked.best->predicted,
                          .in = {},
                          .out = {}});
  }

  static void count_bytes(const Schedule& schedule, KindOfPass& kind) {
    for (const Op& op : schedule.ops)
      if (const auto* copy = std::get_if<Copy>(&op.what)) {
        const CopyDirection way = direction(schedule, *copy);
        if (way == CopyDirection::host_to_device) kind.in += copy->from.length;
        if (way == CopyDirection::device_to_host) kind.out += copy->from.length;
      } else if (const auto* kernel = std::get_if<Kernel>(&op.what)) {
        for (const Flow& flow : kernel->flows) (flow.mode == AccessMode::read ? kind.in : kind.out) += flow.bytes;
      }
  }

  /// A temporary array without memory on the host must have a home, or pass from kernel to kernel in one pass.
  void require_memory_of_temporaries(const StepPlan& plan) const {
    for (const KindOfPass& kind : plan.kinds)
      for (std::size_t a = 0; a < kind.arrays.size(); ++a)
        if (kind.arrays[a] && !plan.at_home[*kind.arrays[a]])
          if (const StepArray& one = arrays_.arrays[*kind.arrays[a]];
              one.between == Between::temporary && one.array.data == nullptr)
            throw Unsupported(fmt::format(
                "the temporary array {} has no memory on the host, and does not fit on the GPU with the others",
                one.array.name));
  }

  /// The time of the kernels one after the other, each planned alone, and of the parts of the host.
  Seconds part_by_part() {
    Seconds sum{0};
    for (const auto& part : step_.parts) {
      const Job* const job = std::get_if<Job>(&part);
      if (job == nullptr) {
        sum += std::get<HostPart>(part).time;
        continue;
      }
      try {
        Job alone = *job;
        treat_all_as_pageable_if_one_is(alone);
        sum += rank(alone, profile_, limits_, {.closed_forms = false}).best().predicted.value;
      } catch (const Unsupported&) {
        return Seconds{0};
      }
    }
    return sum * static_cast<double>(step_.repeats);
  }

  /// The job without arrays that are copied around its kernels: several kernels may copy them once.
  static Job of_chunks(Job job) {
    std::erase_if(job.arrays, [](const Array& array) { return stays(array.role); });
    return job;
  }

  /// Each array crosses the link once where the host has it between steps, and all kernels run.
  Seconds bound_of_step() const {
    Job once{.items = 1, .name = step_.name};
    Seconds kernels{0};
    const Parameter<Seconds>& latency = profile_.gpus.front().launch_latency;
    const Seconds launch = latency ? latency->low : Seconds{0};  // several kernels may be behind one
    for (const auto& part : step_.parts)
      if (const Job* const job = std::get_if<Job>(&part))
        kernels += std::max(Seconds{0}, bound(of_chunks(*job), profile_).kernel - launch);
    kernels = kernels * static_cast<double>(step_.repeats);
    for (std::size_t a = 0; a < arrays_.arrays.size(); ++a) {
      const StepArray& one = arrays_.arrays[a];
      // Nothing is known of how much of an array mappings leave out.
      if (one.between != Between::host || is_on_gpu(one.array) || flow_.has_mapping(a)) continue;
      bool is_changed = false;
      for (std::size_t p = 0; p < step_.parts.size(); ++p) {
        const auto use = flow_.role(p, a);
        is_changed = is_changed || (use && is_written(*use));
      }
      Array crossing{.name = one.array.name, .role = Role::inout, .size = one.array.size, .element = one.array.element};
      crossing.role = !is_changed ? Role::in : flow_.is_needed(0, a) ? Role::inout : Role::out;
      crossing.memory = one.array.memory;
      once.arrays.push_back(std::move(crossing));
    }
    once.cost = {.points = {{1, Interval<Seconds>::exact(kernels)}}, .origin = "sum"};
    return bound(once, profile_).time;
  }

  const Profile& profile_;
  const Step step_;
  const StepArrays& arrays_;
  Limits limits_;
  StepFlow flow_;
  StepPasses passes_;
};

}  // namespace

StepPlan plan_step(const Profile& profile, const Step& step, const Limits& limits, bool quick) {
  const StepArrays arrays = arrays_of(step);
  return StepSearch(profile, step, arrays, limits).best(quick);
}

}  // namespace shiplap
