#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "cli/choice_flags.hpp"
#include "cli/common.hpp"
#include "cli/effects.hpp"
#include "cli/evaluate.hpp"
#include "cli/node.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/evaluate/evaluate.hpp"
#include "shiplap/report/progress.hpp"

namespace shiplap::cli {
namespace {

std::uint32_t chunk_count(const std::string& text) {
  const std::uint64_t count = parse_count(text, "--chunks");
  if (count == 0 || count > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(fmt::format("--chunks {}: give numbers from 1 on, as in 1,2,4", text));
  return static_cast<std::uint32_t>(count);
}

std::uint64_t block_count(const std::string& text) {
  if (text == "full") return 0;
  const std::uint64_t count = parse_count(text, "--max-grid");
  if (count == 0) throw UsageError("--max-grid 0: give 1 or more, or full");
  return count;
}

GridOptions grid_options_of(const EvaluateFlags& flags) {
  GridOptions grid;
  for (const std::string& name : flags.strategies) grid.strategies.emplace_back(find_strategy(name).name);
  for (const std::string& text : flags.chunks) grid.chunks.push_back(chunk_count(text));
  for (const std::string& text : flags.max_grids) grid.max_grids.push_back(block_count(text));
  if (!flags.threads.empty()) grid.threads.clear();
  for (const std::string& text : flags.threads) grid.threads.push_back(threads_of(text));
  if (!flags.layouts.empty()) grid.layouts.clear();
  for (const std::string& text : flags.layouts) {
    Choice choice;
    parse_layout(text, choice);
    grid.layouts.push_back({choice.layout, choice.streams});
  }
  return grid;
}

std::vector<Bytes> sizes_of(const EvaluateFlags& flags, std::vector<Bytes> otherwise, Bytes most) {
  std::vector<Bytes> sizes;
  for (const std::string& text : flags.sizes) sizes.push_back(parse_bytes(text, "--sizes"));
  if (sizes.empty()) {
    std::erase_if(otherwise, [&](Bytes size) { return size > most; });
    return otherwise;
  }
  return sizes;
}

/// Every workload in every size, the small ones first; those that state their sizes once.
std::vector<std::string> names_of(const EvaluateFlags& flags, const std::vector<Bytes>& sizes) {
  std::vector<std::string> names;
  const std::vector<std::string> both{"scalar-add", "saxpy"};
  for (const Bytes size : sizes)
    for (const std::string& workload : flags.workloads.empty() ? both : flags.workloads)
      if (std::string name = with_size(workload, size); std::ranges::find(names, name) == names.end())
        names.push_back(std::move(name));
  return names;
}

EvaluateOptions options_of(const EvaluateFlags& flags, const Node& node) {
  EvaluateOptions options{.grid = grid_options_of(flags)};
  const bool is_virtual = !node.has_gpu();
  options.rounds = flags.rounds > 0 ? flags.rounds : is_virtual ? 1 : options.rounds;
  options.duel_rounds = flags.duel_rounds > 0 ? flags.duel_rounds : is_virtual ? 1 : options.duel_rounds;
  // The memory of a virtual GPU is the host's.
  if (is_virtual) options.ready = 256_MiB;
  return options;
}

bool has_observed(const Evaluation& evaluation) {
  return !evaluation.transfers.empty() ||
         std::ranges::any_of(evaluation.workloads, [](const EvaluatedWorkload& workload) {
           return !workload.points.empty() || !workload.not_run.empty();
         });
}

}  // namespace

void evaluate_grid(const EvaluateFlags& flags) {
  const Bytes any_size{std::numeric_limits<std::uint64_t>::max()};
  grid_options_of(flags);  // nonsense is refused before anything is measured
  for (const std::string& name : names_of(flags, sizes_of(flags, {1_MiB}, any_size))) find_workload(name);
  const Seconds budget = budget_of(flags);
  const OpenedNode opened =
      open_node({.device = device_to_measure(flags.device), .profile = flags.profile, .scale = {}});
  const Node& node = opened.node;
  note_grid_without_effect(flags, !node.has_gpu());
  EvaluateOptions options = options_of(flags, node);
  Progress progress;
  options.progress = [&](std::string_view what, std::size_t done, std::size_t total) {
    progress.update(what, done, total);
  };
  const Bytes most = node.has_gpu() ? any_size : 16_MiB;
  const auto began = std::chrono::steady_clock::now();
  Evaluation evaluation = begin_evaluation(node);
  evaluation.command = command_of(flags, evaluation.device);
  const Evaluation before = evaluated_before(flags, evaluation);
  evaluation.transfers = before.transfers;
  if (!flags.no_transfers && flags.workloads.empty() && evaluation.transfers.empty()) {
    const std::vector<std::uint32_t> pieces{1, 2, 4, 8, 16, 32, 64, 128, 256};
    evaluation.transfers =
        evaluate_transfers(*opened.device, *node.profile,
                           sizes_of(flags, {16_MiB, 32_MiB, 64_MiB, 128_MiB, 256_MiB, 512_MiB, 1_GiB}, most),
                           options.grid.chunks.empty() ? pieces : options.grid.chunks, options);
    for (EvaluatedTransfer& transfer : evaluation.transfers) transfer = as_recorded(std::move(transfer));
    save(flags, together(evaluation, before));
  }
  std::vector<std::string> names;
  if (!flags.transfers_only)
    names = names_of(flags, sizes_of(flags, {1_MiB, 4_MiB, 16_MiB, 64_MiB, 256_MiB, 1_GiB}, most));
  for (const std::string& name : names)
    for (const std::string& memory : flags.memory) {
      Workload workload = find_workload(name);
      put_into(workload, parse_array_memory(memory));
      if (const auto* done = find_evaluated(before, workload.job.name, memory_of(workload.job))) {
        evaluation.workloads.push_back(*done);
        continue;
      }
      if (Seconds{std::chrono::steady_clock::now() - began} > budget) {
        evaluation.workloads.push_back({.name = workload.job.name,
                                        .memory = parse_array_memory(memory),
                                        .not_run = "the time of --budget was spent"});
        continue;
      }
      give_derived_cost(node, workload);
      evaluation.workloads.push_back(as_recorded(evaluate(node, std::move(workload), options)));
      save(flags, together(evaluation, before));
    }
  save(flags, evaluation);
  progress.clear();
  show(flags, evaluation);
  show_simulation(opened, {.device = flags.device, .profile = {}, .scale = {}}, flags.json);
  if (!has_observed(evaluation)) throw Unsupported("no choice of the grid can run; --json or -o list why");
}

}  // namespace shiplap::cli
