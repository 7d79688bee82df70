// Rules that change where data are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "shiplap/advise/cuda_functions.hpp"
#include "shiplap/advise/host_times.hpp"
#include "shiplap/advise/rules.hpp"
#include "shiplap/advise/step_edit.hpp"
#include "shiplap/advise/unread_results.hpp"

namespace shiplap {
namespace {

constexpr Bytes worth_pinning{64 * 1024};        // all pageable copies of a step together
constexpr double worth_allocating_once = 0.005;  // fraction of the step
/// The rate of the slowest allocation of pinned memory that was seen: cudaMallocHost, 4 GiB in 2.7 s. It ends an
/// interval.
constexpr Bandwidth slowest_pinning{1.6e9};

const LinkModel* link_of(const Profile& profile, std::uint32_t gpu) {
  const LinkModel* const found = profile.find_link(static_cast<std::uint16_t>(gpu));
  return found != nullptr ? found : profile.find_link(0);
}

bool is_wait_of_freeing(const StepOp& op) { return op.kind == StepOp::Kind::wait && manages_memory(op.name); }
bool is_pageable_copy(const StepOp& op) { return is_copy(op) && op.host_memory == MemoryKind::pageable; }

/// Whether the next op of the thread is a wait for this op.
bool is_awaited_next(const ProgramStep& step, std::size_t op) {
  for (std::size_t i = op + 1; i < step.ops.size(); ++i) {
    if (step.ops[i].thread != step.ops[op].thread) continue;
    return step.ops[i].kind == StepOp::Kind::wait &&
           std::ranges::find(step.ops[i].after, EarlierOp{op, 0}) != step.ops[i].after.end();
  }
  return false;
}

/// Whether another copy of the step writes to the same place on the GPU.
bool is_overwritten(const ProgramStep& step, const StepOp& copy) {
  return copy.device_address != 0 && std::ranges::count_if(step.ops, [&](const StepOp& op) {
                                       return is_copy(op) && op.to_device && op.device_address == copy.device_address;
                                     }) > 1;
}

/// What a copy to the GPU has in common with the copy to the host whose bytes it may send again.
auto array_of(const StepOp& copy) { return std::tuple(copy.gpu, copy.size.count, copy.host_address); }

/// The part of the SMs that the largest grid of the step's kernels can use, at most 1: what a kernel gets of the GPU's
/// memory bandwidth.
double part_of_gpu(const ProgramStep& step, const GpuModel& gpu) {
  std::uint64_t blocks = 0;
  for (const StepOp& op : step.ops)
    if (op.kind == StepOp::Kind::kernel && op.work == StepOp::Work::kernel) blocks = std::max(blocks, op.grid);
  if (blocks == 0 || gpu.sm_count == 0) return 1;
  return std::min(1.0, static_cast<double>(blocks) / gpu.sm_count);
}

std::string arrays(std::size_t count) { return count == 1 ? "array" : fmt::format("{} arrays", count); }

}  // namespace

std::optional<ChangedStep> keep_on_gpu(const ProgramStep& step, const Profile& profile) {
  Bytes size;
  std::size_t count = 0;
  StepEdit edit(step);
  const auto is_kept = [&](const StepOp& op) {
    return is_copy(op) && op.to_device && op.same_content && !is_overwritten(step, op);
  };
  const auto awaits_only_kept = [&](const StepOp& op) {
    return op.kind == StepOp::Kind::wait && !step.has_inferred_waits && !op.after.empty() &&
           std::ranges::all_of(op.after, [&](const EarlierOp& earlier) { return is_kept(step.ops[earlier.op]); });
  };
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    const StepOp& op = step.ops[i];
    if (is_kept(op)) {
      size += op.size;
      ++count;
      // The time before a copy is spent for it, as far as the host can have prepared these bytes in it.
      edit.leave_out(i, op.host_before <= time_of_preparing(profile, op.size));
    } else if (awaits_only_kept(op)) {
      edit.leave_out(i, true);
    } else {
      edit.keep(i);
    }
  }
  const bool fits = profile.gpus.empty() || size.count < profile.gpus.front().memory.count / 2;
  if (count == 0 || !fits) return std::nullopt;
  return ChangedStep{
      .step = std::move(edit).finish(),
      .what = fmt::format("Keep on the GPU the {} that every step sends ({}) and that probably did not change",
                          arrays(count), to_string(size)),
      .allowed_if =
          "The bytes do not change between steps, as samples of them did not in the recording; no kernel "
          "writes to the arrays on the GPU; and there is memory for them beside everything else. The host's "
          "time before these copies is spent for them."};
}

std::optional<ChangedStep> keep_results_on_gpu(const ProgramStep& step, const Profile&) {
  std::vector<bool> is_left_out(step.ops.size());
  Bytes size;
  std::size_t count = 0;
  bool by_address = true;
  bool in_one_stream = true;
  std::map<decltype(array_of(step.ops[0])), std::vector<std::size_t>> received;
  const auto receive = [&](std::size_t i) {
    if (is_copy(step.ops[i]) && !step.ops[i].to_device) received[array_of(step.ops[i])].push_back(i);
  };
  // What a step receives may be sent in the next one, if there is one.
  for (std::size_t i = 0; i < step.ops.size() && !step.once; ++i) receive(i);
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    const StepOp& op = step.ops[i];
    if (step.once) receive(i);
    if (!is_copy(op) || !op.to_device || op.same_content || op.size < worth_pinning) continue;
    const auto found = received.find(array_of(op));
    if (found == received.end() || found->second.empty()) continue;
    is_left_out[i] = is_left_out[found->second.back()] = true;
    in_one_stream = in_one_stream && op.stream == step.ops[found->second.back()].stream;
    found->second.pop_back();
    size += op.size;
    ++count;
    by_address = by_address && op.host_address != 0;
  }
  if (count == 0) return std::nullopt;
  StepEdit edit(step);
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    if (is_left_out[i])
      edit.leave_out(i);
    else
      edit.keep(i);
  }
  return ChangedStep{
      .step = std::move(edit).finish(),
      .what =
          by_address
              ? fmt::format("Keep on the GPU the {} that the host receives and sends again ({}, by address and size)",
                            arrays(count), to_string(size))
              : fmt::format("Keep on the GPU the {} that the host may receive and send again ({} that it receives and "
                            "sends have equal sizes; the recording has no addresses)",
                            arrays(count), to_string(size)),
      .allowed_if =
          "The host sends what it has received, unchanged, and reads nothing of it. What it changes or reads "
          "is still copied.",
      .once = Seconds{0},
      .bound = true,
      // One array of the size of a result may be any other. Several are hardly, nor what the same stream sends next.
      .is_likely = by_address || (in_one_stream && (count > 1 || step.once))};
}

std::optional<ChangedStep> allocate_once(const ProgramStep& step, const Profile&) {
  Seconds spent{0};
  std::size_t allocations = 0, frees = 0;
  ProgramStep allocated = step;
  for (StepOp& op : allocated.ops) {
    allocations += std::exchange(op.allocations, 0);
    frees += std::exchange(op.frees, 0);
    spent += op.allocating;
    op.host_before = std::max(Seconds{0}, op.host_before - op.allocating);
    op.allocating = Seconds{0};
  }
  std::size_t waits = 0;
  StepEdit edit(allocated);
  UnreadResults results(allocated);
  for (std::size_t i = 0; i < allocated.ops.size(); ++i) {
    const bool is_needless = is_wait_of_freeing(allocated.ops[i]) && !results.any() && !results.are_awaited_by(i);
    results.perform(i);
    if (is_needless) {
      edit.leave_out(i);
      ++waits;
    } else {
      edit.keep(i);
    }
  }
  if (waits == 0 && spent < step.time.value * worth_allocating_once) return std::nullopt;
  ChangedStep change{.step = std::move(edit).finish(),
                     .what = {},
                     .allowed_if = "The sizes do not change, and nobody else needs the memory."};
  if (frees + waits == 0 && allocations > 0) {
    const bool copies = std::ranges::any_of(step.ops, [](const StepOp& op) { return is_copy(op) && op.to_device; });
    change.what =
        fmt::format("Allocate in one piece{}: each step spends {} in {} that allocate{}, and none frees",
                    copies ? ", which one copy can then fill" : "", to_string(spent),
                    allocations == 1 ? "a call" : fmt::format("{} calls", allocations), allocations == 1 ? "s" : "");
    change.allowed_if = "The number of steps and their sizes are known before the first one.";
    return change;
  }
  change.what = fmt::format("Allocate memory once: each step spends {} in allocating and freeing", to_string(spent));
  if (waits > 0)
    change.what +=
        fmt::format(", and waits for the GPU in {}",
                    waits == 1 ? "a call that frees memory" : fmt::format("{} calls that free memory", waits));
  return change;
}

std::optional<ChangedStep> pin(const ProgramStep& step, const Profile& profile) {
  Bytes total;
  std::vector<Bytes> sizes;
  bool all_at_known_addresses = true;
  ChangedStep change{.step = step, .what = {}, .allowed_if = {}};
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    if (!is_pageable_copy(step.ops[i])) continue;
    StepOp& op = change.step.ops[i];
    total += op.size;
    sizes.push_back(op.size);
    all_at_known_addresses = all_at_known_addresses && op.same_address;
    op.host_memory = MemoryKind::pinned;
    op.time = op.call = Seconds{0};
    // The driver has returned when pageable bytes were staged. The program may rely on it until it is changed.
    op.blocks = op.blocks || step.has_inferred_waits || !is_awaited_next(step, i);
  }
  if (total < worth_pinning) return std::nullopt;
  change.once = time_of_pinning(profile, sizes);
  change.once_at_most = std::max(change.once, total / slowest_pinning);
  change.what = fmt::format("Pin the {} that are copied from or to pageable memory ({} in a step)",
                            arrays(sizes.size()), to_string(total));
  if (sizes.size() == 1)
    change.what =
        fmt::format("Pin the array that is copied from or to pageable memory ({} in a step)", to_string(total));
  change.allowed_if =
      all_at_known_addresses
          ? "The arrays are the same in every step, as their addresses were, so that pinning is paid once."
          : "The program writes its inputs into pinned arrays and reads its outputs from them, a few that it uses in "
            "turn. Pinning other arrays in every step costs more than it gains.";
  return change;
}

std::optional<ChangedStep> write_into_pinned_memory(const ProgramStep& step, const Profile& profile) {
  if (!profile.host || profile.host->copy.empty()) return std::nullopt;
  ChangedStep change{.step = step, .what = {}, .allowed_if = {}, .once = Seconds{0}, .bound = true};
  Seconds spent{0};
  Bytes bytes;
  for (StepOp& op : change.step.ops) {
    if (!is_copy(op) || !op.to_device || op.is_gathered) continue;
    if (op.host_memory == MemoryKind::pageable || op.size < worth_pinning) continue;
    const Seconds at_least = op.size / rate_of(profile.host->copy, 1) * copies_at_least;
    if (op.host_before < at_least) continue;
    spent += op.host_before;
    bytes += op.size;
    op.host_before = Seconds{0};
  }
  if (spent <= Seconds{0}) return std::nullopt;
  change.what = fmt::format(
      "Write inputs into pinned memory at once: before it copies {} from pinned memory, the host "
      "spends {}, in which it can have copied them there",
      to_string(bytes), to_string(spent));
  change.allowed_if = "The host spends this time on copying the arrays, as some libraries do, and not on making them.";
  return change;
}

std::optional<ChangedStep> prefetch_managed(const ProgramStep& step, const Profile& profile) {
  const StepMigrations& moved = step.migrations;
  const LinkModel* const link = link_of(profile, 0);
  if (moved.to_device.count + moved.to_host.count == 0 || link == nullptr || !link->managed) return std::nullopt;
  const ManagedModel& managed = *link->managed;
  if (managed.prefetch_h2d.empty() || managed.prefetch_d2h.empty() || profile.gpus.empty()) return std::nullopt;
  const auto first = std::ranges::find(step.ops, StepOp::Kind::kernel, &StepOp::kind);
  if (first == step.ops.end()) return std::nullopt;
  const auto at = static_cast<std::size_t>(first - step.ops.begin());
  const auto prefetch = [&](bool to_device, Bytes size, const std::vector<TimeAt>& times) {
    return StepOp{.kind = StepOp::Kind::copy,
                  .name = "cudaMemPrefetchAsync",
                  .thread = first->thread,
                  .stream = first->stream,
                  .gpu = first->gpu,
                  .time = time_at(times, size),
                  .blocks = !to_device,
                  .after = {},
                  .size = size,
                  .host_memory = MemoryKind::pinned,
                  .to_device = to_device};
  };
  std::size_t last = at;
  Seconds kernels{0};
  for (std::size_t i = 0; i < step.ops.size(); ++i)
    if (step.ops[i].kind == StepOp::Kind::kernel) {
      last = i;
      kernels += step.ops[i].time;
    }
  const auto& bandwidth = profile.gpus.front().memory_bandwidth;
  const Seconds alone =
      bandwidth ? moved.to_device / bandwidth->value / part_of_gpu(step, profile.gpus.front()) : Seconds{0};
  // Kernels waited for pages no longer than if these had come one after the other, each by a fault of its own.
  const Seconds faults = moved.moves_to_device == 0 || managed.demand_h2d.empty()
                             ? kernels
                             : time_at(managed.demand_h2d, moved.to_device / moved.moves_to_device) *
                                   static_cast<double>(moved.moves_to_device);
  const Seconds without_faults = std::max(alone, kernels - faults);
  const double shorter = kernels > Seconds{0} ? std::min(1.0, without_faults / kernels) : 1;
  StepEdit edit(step);
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    if (i == at && moved.to_device.count > 0) edit.add(prefetch(true, moved.to_device, managed.prefetch_h2d));
    StepOp& op = edit.keep(i);
    if (op.kind == StepOp::Kind::kernel && moved.to_device.count > 0) op.time = op.time * shorter;
    if (i == last && moved.to_host.count > 0) edit.add(prefetch(false, moved.to_host, managed.prefetch_d2h));
  }
  ProgramStep after = std::move(edit).finish();
  after.migrations = {};
  // The host's own code has waited for pages where it took longest.
  Seconds& before = std::ranges::max_element(after.ops, {}, &StepOp::host_before)->host_before;
  Seconds& longest = after.host_after > before ? after.host_after : before;
  longest = std::max(Seconds{0}, longest - moved.on_host);
  return ChangedStep{
      .step = std::move(after),
      .what = fmt::format("Prefetch managed memory: pages of {} move to the GPU and of {} to the host because "
                          "somebody touches them",
                          to_string(moved.to_device), to_string(moved.to_host)),
      .allowed_if = "The program knows before the kernel which pages it will touch.",
      .once = Seconds{0},
      .bound = true,
      .is_likely = true};
}

}  // namespace shiplap
