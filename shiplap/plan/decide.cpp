#include "shiplap/plan/decide.hpp"

#include <fmt/format.h>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/plan/relays.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/launches.hpp"

namespace shiplap {
namespace {

/// Changes the plan to pinned arrays if pinning the pageable ones pays over the runs, and they can be pinned.
void choose_to_pin(const Profile& profile, const Facts& facts, const DecisionOptions& options, Decision& decision) {
  if (!options.may_pin || !has_pageable_chunks(decision.job)) return;
  decision.memory = std::make_shared<const MemoryChoice>(choose_memory(
      decision.job, profile, decision.limits, options.space, decision.ranking, options.runs, facts.why_not_pinned));
  if (array_memory(decision.job) != ArrayMemory::pageable || !allows_pinned(options.space)) return;
  const MemoryWay* const registered = decision.memory->find(Preparation::registered);
  if (registered == nullptr || registered->total_time >= decision.memory->find(Preparation::none)->total_time) return;
  decision.pins = true;
  decision.pinning = registered->setup_time;
  decision.job = with_pinned_chunks(std::move(decision.job));
  decision.ranking = *decision.memory->pinned;
  decision.chosen = decision.ranking.best();
  for (Refused& refused : decision.ranking.refused)
    if (find_strategy(refused.strategy).memory == ArrayMemory::pageable)
      refused.reason = fmt::format("the plan pins the arrays, which is faster from {} run{} on", *registered->pays_from,
                                   *registered->pays_from == 1 ? "" : "s");
}

/// Says when the chunks have fewer blocks than the GPU has SMs and the time of the kernel is in proportion to the
/// items.
void note_small_launches(const Profile& profile, Decision& decision) {
  const Job& job = decision.job;
  const Choice& choice = decision.chosen.choice;
  if (job.items_per_block == 1 || job.cost.points.size() != 1 || choice.chunks == 1) return;
  const std::uint64_t blocks = blocks_of(job, job.items / choice.gpus / choice.chunks);
  const unsigned sm_count = profile.gpus.front().sm_count;
  if (blocks >= sm_count) return;
  decision.ranking.assumptions.push_back(fmt::format(
      "the kernel takes time in proportion to the items, although a chunk has {} block{} for {} SMs and may "
      "take as long as one of {} blocks: measure the kernel, or ask for fewer `chunks`",
      blocks, blocks == 1 ? "" : "s", sm_count, sm_count));
}

/// Predicts what the first run also copies.
void predict_copies_of_kept(const Profile& profile, Decision& decision) {
  const Schedule& schedule = *decision.chosen.schedule;
  if (schedule.kept.empty()) return;
  try {
    decision.time_of_kept_copies =
        simulate(copies_of_kept(schedule, schedule.kept, CopyDirection::host_to_device), profile).timeline.makespan;
  } catch (const Unsupported& why) {
    decision.ranking.assumptions.push_back(fmt::format(
        "the copies of the arrays that stay on the GPU, in the first run, are not predicted: {}", why.what()));
  }
}

}  // namespace

Decision decide(const Profile& profile, const Facts& facts, const DecisionOptions& options) {
  Decision decision{.job = facts.job, .ranking = {}, .chosen = {}, .limits = facts.limits};
  std::string refusal;
  try {
    decision.ranking = rank(decision.job, profile, decision.limits, options.space);
  } catch (const Unsupported& error) {
    if (!options.may_pin || array_memory(decision.job) != ArrayMemory::pageable || !allows_pinned(options.space)) throw;
    refusal = error.what();
    try {
      decision.ranking = rank(decision.job, profile, decision.limits,
                              {.closed_forms = options.space.closed_forms,
                               .gpus = options.space.gpus,
                               .relays = options.space.relays,
                               .max_slowdown = options.space.max_slowdown});
    } catch (const Unsupported&) {
      throw Unsupported(refusal);
    }
  }
  decision.chosen = decision.ranking.best();
  choose_to_pin(profile, facts, options, decision);
  if (refusal.empty() || decision.pins) return decision;
  const MemoryWay* const registered = decision.memory->find(Preparation::registered);
  if (registered == nullptr || !registered->pays_from) throw Unsupported(refusal);
  throw Unsupported(fmt::format("{}\n  With {} `runs` or more over the same arrays, a plan pins them.", refusal,
                                *registered->pays_from));
}

void settle(const Profile& profile, const std::optional<Choice>& winner, Decision& decision) {
  if (winner && *winner != decision.chosen.choice)
    decision.chosen = predict(decision.job, profile, *winner, decision.limits);
  note_small_launches(profile, decision);
  predict_copies_of_kept(profile, decision);
  if (const std::string cost = cost_of_relaying(copies_of(decision.job), profile, decision.chosen.choice.relay);
      !cost.empty())
    decision.ranking.assumptions.push_back(cost);
  std::vector<std::string>& assumptions = decision.ranking.assumptions;
  if (decision.job.waits) assumptions.push_back("the kernel waits for the GPU, and the host submits nothing meanwhile");
  if (!decision.job.capturable)
    assumptions.push_back("the kernel is not captured: no candidate is a graph, and its launches are not counted");
}

}  // namespace shiplap
