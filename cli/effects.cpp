#include "cli/effects.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/pipeline/race.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap::cli {
namespace {

bool cuts(const Strategy& s) { return s.chunked; }
bool lays_out(const Strategy& s) { return s.chunked && s.memory == ArrayMemory::pinned; }
bool accesses_host(const Strategy& s) { return s.zero_copy; }
bool uses_threads(const Strategy& s) { return s.threaded; }

/// A parameter of a choice, the strategies that use it, and the note for those that do not.
struct Parameter {
  std::string_view flag;
  std::string ChoiceFlags::*value;
  bool (*used)(const Strategy&);
  const char* lacks;  ///< "strategy streams …"
  const char* has;    ///< "no strategy of this plan …"
};
constexpr const char* no_pipeline = "has no pipeline of chunks in pinned memory";
constexpr const char* a_pipeline = "has a pipeline of chunks in pinned memory";
constexpr const char* no_access = "has no kernel that accesses host memory";
constexpr const char* access = "has a kernel that accesses host memory";
constexpr const char* no_threads = "uses no host threads";
constexpr const char* threads = "uses host threads";
constexpr std::array parameters{
    Parameter{"--chunks", &ChoiceFlags::chunks, cuts, "does not cut arrays into chunks", "cuts arrays into chunks"},
    Parameter{"--ramp", &ChoiceFlags::ramp, lays_out, no_pipeline, a_pipeline},
    Parameter{"--layout", &ChoiceFlags::layout, lays_out, no_pipeline, a_pipeline},
    Parameter{"--order", &ChoiceFlags::order, lays_out, no_pipeline, a_pipeline},
    Parameter{"--max-grid", &ChoiceFlags::max_grid, accesses_host, no_access, access},
    Parameter{"--threads", &ChoiceFlags::threads, uses_threads, no_threads, threads}};

/// The choices that were ranked, and the chosen one, which may be for another kind of memory.
std::vector<const Choice*> choices_of(const Plan& plan) {
  std::vector<const Choice*> choices{&plan.chosen.choice};
  for (const Candidate& candidate : plan.ranking.candidates) choices.push_back(&candidate.choice);
  return choices;
}

std::string with_value(std::string_view flag, std::string_view value) { return fmt::format("{} {}", flag, value); }

}  // namespace

void note_choices_without_effect(const ChoiceFlags& flags, const Plan& plan, const Node& node) {
  const std::vector<const Choice*> choices = choices_of(plan);
  for (const Parameter& parameter : parameters) {
    const std::string& value = flags.*parameter.value;
    const auto used = [&](const Choice* choice) { return parameter.used(find_strategy(choice->strategy)); };
    if (value == "auto" || std::ranges::any_of(choices, used)) continue;
    note_without_effect(with_value(parameter.flag, value),
                        flags.strategy == "auto" ? fmt::format("no strategy of this plan {}", parameter.has)
                                                 : fmt::format("strategy {} {}", flags.strategy, parameter.lacks));
  }
  if (flags.chunks == "1")
    for (const auto& [flag, value] : {std::pair{"--ramp", &flags.ramp}, {"--order", &flags.order}})
      if (*value != "auto" && *value != "none") note_without_effect(with_value(flag, *value), "there is one chunk");
  if (!flags.device_memory.empty() && parse_bytes(flags.device_memory, "--device-memory") >= node.limits.device_memory)
    note_without_effect(with_value("--device-memory", flags.device_memory),
                        fmt::format("no more than {} can be used", to_string(node.limits.device_memory)));
}

void note_uses_without_effect(const UseFlags& use, const Job& job) {
  if (use.no_pin && !has_pageable_chunks(job))
    note_without_effect("--no-pin", "no array of the workload is in pageable memory");
  else if (use.no_pin && use.reuse > 1)
    note_without_effect(with_value("--reuse", std::to_string(use.reuse)),
                        "the number of runs decides whether arrays are pinned, and --no-pin forbids it");
}

void note_runs_without_effect(const UseFlags& use, unsigned repeat, const Plan& plan, const Node& node) {
  if (!use.race.empty() && plan.race && plan.race->finalists.size() == 1)
    note_without_effect(with_value("--race", use.race), "the other options leave one choice, so nothing races");
  if (repeat > 1 && !node.has_gpu())
    note_without_effect(with_value("--repeat", std::to_string(repeat)),
                        "the times of a virtual device are simulated, and all runs take the same");
}

void note_unused_beside_list(const MeasureFlags& flags) {
  std::vector<std::string> unused;
  for (const auto& [flag, given] : {std::pair{"--device", !flags.device.empty()},
                                    {"--quick", flags.quick},
                                    {"--standard", flags.standard},
                                    {"--full", flags.full},
                                    {"--only", flags.only != "*"},
                                    {"--smallest", !flags.smallest.empty()},
                                    {"--largest", !flags.largest.empty()},
                                    {"--name", !flags.name.empty()},
                                    {"--output", !flags.output.empty()},
                                    {"--csv", !flags.csv.empty()},
                                    {"--resume", flags.resume}})
    if (given) unused.emplace_back(flag);
  if (!unused.empty())
    note_without_effect(fmt::format("{}", fmt::join(unused, ", ")), "--list lists all primitives and measures nothing");
}

namespace {

/// The strategies of the grid that can have arrays in one of the kinds of memory that are asked for.
std::vector<const Strategy*> strategies_of(const EvaluateFlags& flags) {
  const auto asked = [&](const Strategy& s) {
    const char* kind = s.memory == ArrayMemory::pinned     ? "pinned"
                       : s.memory == ArrayMemory::pageable ? "pageable"
                                                           : "managed";
    return std::ranges::find(flags.memory, kind) != flags.memory.end() &&
           (flags.strategies.empty() || std::ranges::find(flags.strategies, s.name) != flags.strategies.end());
  };
  std::vector<const Strategy*> found;
  for (const Strategy& s : strategies())
    if (asked(s)) found.push_back(&s);
  return found;
}

void note_unused_beside_transfers(const EvaluateFlags& flags) {
  std::vector<std::string> unused;
  for (const auto& [flag, given] : {std::pair{"--strategies", !flags.strategies.empty()},
                                    {"--layouts", !flags.layouts.empty()},
                                    {"--threads", !flags.threads.empty()},
                                    {"--max-grid", !flags.max_grids.empty()},
                                    {"--memory", flags.memory != EvaluateFlags{}.memory},
                                    {"--duel-repeat", flags.duel_rounds > 0},
                                    {"--budget", !flags.budget.empty()}})
    if (given) unused.emplace_back(flag);
  if (!unused.empty())
    note_without_effect(fmt::format("{}", fmt::join(unused, ", ")),
                        "--transfers evaluates copies of pinned memory without kernels");
}

}  // namespace

void note_grid_without_effect(const EvaluateFlags& flags, bool is_virtual) {
  if (is_virtual)
    for (const auto& [flag, rounds] :
         {std::pair{"--repeat", flags.rounds}, std::pair{"--duel-repeat", flags.duel_rounds}})
      if (rounds > 1)
        note_without_effect(with_value(flag, std::to_string(rounds)),
                            "the times of a virtual device are simulated, and all rounds take the same");
  if (flags.transfers_only) return note_unused_beside_transfers(flags);
  const bool copies_alone = !flags.no_transfers && flags.workloads.empty();
  if (flags.no_transfers && !flags.workloads.empty())
    note_without_effect("--no-transfers", "copies alone are left out wherever a WORKLOAD is named");
  const auto sized = [](const std::string& name) { return with_size(name, 1_MiB) == name; };
  if (!flags.sizes.empty() && !flags.workloads.empty() && std::ranges::all_of(flags.workloads, sized))
    note_without_effect("--sizes", "every WORKLOAD states its own sizes");
  struct Axis {
    const char* flag;
    bool given;
    bool (*used)(const Strategy&);
    const char* reason;
  };
  for (const auto& [flag, given, used, reason] :
       {Axis{"--chunks", !flags.chunks.empty() && !copies_alone, cuts,
             "no strategy of the grid cuts arrays into chunks"},
        Axis{"--layouts", !flags.layouts.empty(), lays_out, "no strategy of the grid has a pipeline in pinned memory"},
        Axis{"--max-grid", !flags.max_grids.empty(), accesses_host,
             "no strategy of the grid has a kernel that accesses host memory"},
        Axis{"--threads", !flags.threads.empty(), uses_threads, "no strategy of the grid uses host threads"}})
    if (given &&
        std::ranges::none_of(strategies_of(flags), [&is_used = used](const Strategy* s) { return is_used(*s); }))
      note_without_effect(flag, reason);
}

}  // namespace shiplap::cli
