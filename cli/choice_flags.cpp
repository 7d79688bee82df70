#include "cli/choice_flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>
#include <vector>

#include "cli/common.hpp"
#include "cli/help.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/plan_view.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/plan/search.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap::cli {
namespace {

/// The divisors of `items` next to `chunks`, below and above. `chunks` lies between 1 and `items`.
std::pair<std::uint64_t, std::uint64_t> nearest_divisors(std::uint64_t items, std::uint64_t chunks) {
  std::uint64_t below = 1;
  std::uint64_t above = items;
  for (std::uint64_t d = 1; d <= items / d; ++d) {
    if (items % d != 0) continue;
    for (const std::uint64_t divisor : {d, items / d}) {
      if (divisor <= chunks) below = std::max(below, divisor);
      if (divisor >= chunks) above = std::min(above, divisor);
    }
  }
  return {below, above};
}

std::uint32_t chunks_of(const std::string& text, const Job& job) {
  const std::uint64_t chunks = parse_count(text, "--chunks");
  if (chunks == 0) throw UsageError("--chunks 0: give 1 or more, or auto");
  if (chunks > job.items || chunks > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(fmt::format("--chunks {}: {} has only {} items, and a chunk holds at least one; give at most {}",
                                 chunks, job.name, job.items,
                                 std::min<std::uint64_t>(job.items, std::numeric_limits<std::uint32_t>::max())));
  if (job.items % chunks != 0) {
    const auto [below, above] = nearest_divisors(job.items, chunks);
    note(fmt::format(
        "--chunks {} does not divide the {} items evenly, so the chunks differ in size by up to a block of the "
        "kernel; the nearest numbers that divide them are --chunks {} and {}",
        chunks, job.items, below, above));
  }
  return static_cast<std::uint32_t>(chunks);
}

}  // namespace

std::uint32_t threads_of(const std::string& text) {
  const std::uint64_t threads = parse_count(text, "--threads");
  if (threads == 0 || threads > most_threads)
    throw UsageError(fmt::format("--threads {}: give 1 to {} threads, or auto", text, most_threads));
  return static_cast<std::uint32_t>(threads);
}

void add_choice_flags(CLI::App& app, ChoiceFlags& flags) {
  std::string names = "auto";
  for (const Strategy& s : strategies()) names += fmt::format(", {}", s.name);
  app.add_option("--strategy", flags.strategy, names)->type_name("S")->capture_default_str();
  app.add_option("--chunks", flags.chunks, "number of chunks, or auto")->type_name("N")->capture_default_str();
  app.add_option(
         "--ramp", flags.ramp,
         "smaller chunks at the ends, FIRST:LAST:GROWTH (0.25:1:1.05: the first is a quarter of the largest, each "
         "5 % larger than the one before), none, or auto")
      ->type_name("R")
      ->capture_default_str();
  app.add_option("--max-grid", flags.max_grid,
                 "most blocks of a kernel that accesses host memory (implicit, hybrid), full for its own grid, or auto")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--layout", flags.layout,
                 "streams: per-chunk, few (few:8) or three (auto, unless a race finds another); older GPUs emulated, "
                 "submitted breadth-first: one-engine, implicit-sync")
      ->type_name("L")
      ->capture_default_str();
  app.add_option("--order", flags.order, "order of submission: depth, breadth, or auto")
      ->type_name("ORDER")
      ->capture_default_str();
  app.add_flag("--graph", flags.graph, "submit all ops in one call, as a CUDA graph that is made once");
  app.add_flag("--batched", flags.batched,
               "submit the copies of a chunk in each direction in one call (cudaMemcpyBatchAsync)")
      ->excludes("--graph");
  app.add_option("--gpus", flags.gpus, "number of the device's GPUs that share the items, as with --device cuda:0,1")
      ->type_name("N")
      ->check(CLI::Range(1u, most_gpus))
      ->capture_default_str();
  app.add_option("--relay", flags.relays,
                 "number of further GPUs of the device whose links may carry copies too, as with --device cuda:0,1")
      ->type_name("N")
      ->check(CLI::Range(0u, most_gpus - 1));
  app.add_option("--device-memory", flags.device_memory,
                 "most memory of each GPU that may be used, as in 8GiB (default: what is free)")
      ->type_name("SIZE");
  app.add_option("--threads", flags.threads,
                 "host threads each way (staged), or that touch the results (managed), or auto")
      ->type_name("N")
      ->capture_default_str();
  declare_file(app.add_option("--saved", flags.saved,
                              "the plan that `plan --json` wrote, whose choice is taken without a search")
                   ->type_name("FILE"),
               FileUse::read);
  put_into_group(app, "Choices of the plan",
                 {"--ramp", "--max-grid", "--layout", "--order", "--graph", "--batched", "--relay", "--device-memory",
                  "--threads", "--saved"});
}

void add_use_flags(CLI::App& app, UseFlags& flags) {
  app.add_option("--reuse", flags.reuse, "number of runs with the same arrays: whether pinning pageable ones pays")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 53))
      ->capture_default_str();
  app.add_flag("--no-pin", flags.no_pin, "leave pageable arrays pageable even where pinning them would pay");
  app.add_flag("--check-reach", flags.check_reach,
               "first run a few chunks by themselves, and fail when the kernel reads or writes what the workload does "
               "not declare");
  put_into_group(app, "Memory and checks", {"--no-pin", "--check-reach"});
}

void add_race_flag(CLI::App& app, std::string& race, const std::string& help) {
  app.add_option("--race", race, help)->type_name("TIME")->capture_default_str();
}

namespace {

SearchSpace space_of(const ChoiceFlags& flags, const Job& job) {
  SearchSpace space;
  if (flags.strategy != "auto") space.strategies = {std::string(find_strategy(flags.strategy).name)};
  if (flags.chunks != "auto") space.chunks = {chunks_of(flags.chunks, job)};
  if (flags.max_grid == "full")
    space.max_grids = {0};
  else if (flags.max_grid != "auto")
    space.max_grids = {parse_count(flags.max_grid, "--max-grid")};
  if (space.max_grids == std::vector<std::uint64_t>{0} && flags.max_grid != "full")
    throw UsageError("--max-grid 0: give 1 or more, full, or auto");
  if (flags.ramp != "auto") space.ramps = {parse_ramp(flags.ramp)};
  if (flags.layout != "auto") {
    Choice choice;
    parse_layout(flags.layout, choice);
    space.layouts = {choice.layout};
    space.streams = choice.streams;
  }
  space.graph = flags.graph;
  space.batched = flags.batched;
  space.gpus = flags.gpus;
  for (std::uint16_t gpu = 1; gpu <= flags.relays; ++gpu) space.relays.push_back(gpu);
  if (flags.threads != "auto") space.threads = {threads_of(flags.threads)};
  if (flags.order != "auto") space.orders = {parse_order(flags.order)};
  return space;
}

/// The options of the saved plan. Throws UsageError for flags that choose something else.
PlanOptions saved_options(const ChoiceFlags& flags, const UseFlags& use, const Job& job) {
  for (const auto& [flag, given] : {std::pair{"--strategy", flags.strategy != "auto"},
                                    {"--chunks", flags.chunks != "auto"},
                                    {"--ramp", flags.ramp != "auto"},
                                    {"--max-grid", flags.max_grid != "auto"},
                                    {"--layout", flags.layout != "auto"},
                                    {"--order", flags.order != "auto"},
                                    {"--threads", flags.threads != "auto"},
                                    {"--graph", flags.graph},
                                    {"--batched", flags.batched},
                                    {"--gpus", flags.gpus != 1},
                                    {"--relay", flags.relays != 0}})
    if (given) throw UsageError(fmt::format("--saved has the choice: leave {} out", flag));
  if (flags.saved->empty()) throw UsageError("--saved '': give the file of a plan");
  const PlanView saved = load_plan(*flags.saved);
  if (saved.pins && use.no_pin)
    throw UsageError(
        "--saved: the saved plan pins the arrays for its runs, and here none is pinned; give --memory pinned, or leave "
        "--no-pin out");
  return options_of(saved, job);
}

}  // namespace

PlanOptions plan_options_of(const ChoiceFlags& choice, const UseFlags& use, const Job& job) {
  PlanOptions options = choice.saved ? saved_options(choice, use, job) : PlanOptions{.space = space_of(choice, job)};
  if (!choice.device_memory.empty()) {
    options.device_memory = parse_bytes(choice.device_memory, "--device-memory");
    if (options.device_memory.count == 0) throw UsageError("--device-memory 0: give more than 0 bytes");
  }
  if (use.reuse > 1 && !has_pageable_chunks(job))
    throw UsageError("--reuse: no array of the workload is in pageable memory (--memory pageable)");
  if (!choice.saved || use.reuse > 1) options.runs = use.reuse;
  options.may_pin = !use.no_pin;
  options.check_reach = use.check_reach;
  if (!use.race.empty()) options.race = parse_seconds(use.race, "--race");
  return options;
}

}  // namespace shiplap::cli
