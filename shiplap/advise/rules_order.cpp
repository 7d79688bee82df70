// Rules that change how many calls there are and what they wait for.
#include <fmt/format.h>

#include <algorithm>

#include "shiplap/advise/cuda_functions.hpp"
#include "shiplap/advise/rules.hpp"
#include "shiplap/advise/step_edit.hpp"
#include "shiplap/advise/unread_results.hpp"

namespace shiplap {
namespace {

/// A shorter pause between two calls is that of the loop around them and of the recorder. It goes with the calls.
constexpr Seconds least_own_code = microseconds(1);

bool is_small_copy(const StepOp& op) { return op.kind == StepOp::Kind::copy && op.size <= small_copy; }
bool continues(const StepOp& first, const StepOp& op) {
  return is_small_copy(op) && op.to_device == first.to_device && op.stream == first.stream &&
         op.thread == first.thread && op.gpu == first.gpu;
}

/// Whether the op is a wait of which it is known what it waits for.
bool is_known_wait(const ProgramStep& step, const StepOp& op) {
  return op.kind == StepOp::Kind::wait && !step.has_inferred_waits;
}

bool is_fill(const StepOp& op) { return op.kind == StepOp::Kind::kernel && op.work == StepOp::Work::fill; }

/// A run of small copies, between which arrays may be filled.
struct SmallCopies {
  std::vector<std::size_t> copies, fills;
  std::size_t end = 0;  ///< the op behind its last copy
};

/// The run that begins with the copy at `first`.
SmallCopies small_copies_from(const ProgramStep& step, std::size_t first) {
  SmallCopies run{.copies = {first}, .fills = {}, .end = first + 1};
  std::vector<std::size_t> fills;  // since the last copy
  for (std::size_t i = first + 1; i < step.ops.size(); ++i) {
    if (is_fill(step.ops[i])) {
      fills.push_back(i);
      continue;
    }
    if (!continues(step.ops[first], step.ops[i])) break;
    run.fills.insert(run.fills.end(), fills.begin(), fills.end());
    fills.clear();
    run.copies.push_back(i);
    run.end = i + 1;
  }
  return run;
}

/// Time in which one thread of the host gathers the bytes of the run into one array, or scatters them.
Seconds time_of_gathering(const Profile& profile, Bytes size) {
  if (!profile.host || profile.host->copy.empty()) return Seconds{0};
  return size / rate_of(profile.host->copy, 1);
}

StepOp one_copy(const ProgramStep& step, const std::vector<std::size_t>& copies, const Profile& profile) {
  StepOp all = step.ops[copies.front()];
  for (std::size_t c = 1; c < copies.size(); ++c) {
    const StepOp& op = step.ops[copies[c]];
    all.size += op.size;
    if (op.host_before >= least_own_code) {
      all.host_before += op.host_before;
      all.allocating += op.allocating;
    }
    all.same_content = all.same_content && op.same_content;
    all.after.insert(all.after.end(), op.after.begin(), op.after.end());
  }
  all.host_before += time_of_gathering(profile, all.size);
  all.is_gathered = true;
  all.blocks = step.ops[copies.back()].blocks;
  all.returning = step.ops[copies.back()].returning;
  all.host_memory = MemoryKind::pinned;
  all.time = Seconds{0};
  all.call = Seconds{0};
  return all;
}

}  // namespace

std::optional<ChangedStep> batch_copies(const ProgramStep& step, const Profile& profile) {
  StepEdit edit(step);
  std::size_t copies = 0;
  Bytes bytes;
  for (std::size_t i = 0; i < step.ops.size();) {
    const SmallCopies run = is_small_copy(step.ops[i]) ? small_copies_from(step, i) : SmallCopies{};
    if (run.copies.size() < fewest_batched) {
      for (const std::size_t end = std::max(i + 1, run.end); i < end; ++i) edit.keep(i);
      continue;
    }
    const StepOp all = one_copy(step, run.copies, profile);
    StepOp& copy = edit.keep(i);
    copy = all;
    const std::size_t index = edit.size() - 1;
    for (const std::size_t k : run.copies) edit.replace(k, index);
    for (const std::size_t k : run.fills) edit.keep(k);
    copies += run.copies.size();
    bytes += all.size;
    i = run.end;
  }
  if (copies == 0) return std::nullopt;
  return ChangedStep{.step = std::move(edit).finish(),
                     .what = fmt::format("Gather {} small copies ({} together) into one array and copy this", copies,
                                         to_string(bytes)),
                     .allowed_if = "The bytes of all of them are known before the first one is needed."};
}

std::optional<ChangedStep> copy_asynchronously(const ProgramStep& step, const Profile&) {
  StepEdit edit(step);
  std::size_t copies = 0;
  UnreadResults results(step);
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    const StepOp& op = step.ops[i];
    const auto is_copy_to_gpu = [&](const EarlierOp& earlier) {
      const StepOp& awaited = step.ops[earlier.op];
      return earlier.steps == 0 && awaited.kind == StepOp::Kind::copy && awaited.to_device &&
             awaited.host_memory != MemoryKind::pageable;
    };
    const bool is_for_copies =
        is_known_wait(step, op) && !op.after.empty() && std::ranges::all_of(op.after, is_copy_to_gpu);
    // A wait for a copy may be one for results that were on their way before it, too.
    const bool is_left_out = is_for_copies && !results.are_awaited_by(i);
    if (!is_left_out) results.perform(i);
    if (is_left_out) {
      edit.leave_out(i);
      ++copies;
      continue;
    }
    StepOp& kept = edit.keep(i);
    if (kept.kind == StepOp::Kind::copy && kept.to_device && kept.blocks && kept.host_memory != MemoryKind::pageable) {
      kept.blocks = false;
      kept.returning = Seconds{0};
      ++copies;
    }
  }
  if (copies == 0) return std::nullopt;
  return ChangedStep{.step = std::move(edit).finish(),
                     .what = "Copy to the GPU asynchronously: the host need not wait for these copies",
                     .allowed_if = "The program does not write into an array before its copy has ended."};
}

std::optional<ChangedStep> drop_waits(const ProgramStep& step, const Profile&) {
  if (step.has_inferred_waits || step.migrations.to_device.count + step.migrations.to_host.count > 0)
    return std::nullopt;
  StepEdit edit(step);
  std::size_t dropped = 0;
  UnreadResults results(step);
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    const StepOp& op = step.ops[i];
    const bool of_this_step = std::ranges::all_of(op.after, [](const EarlierOp& e) { return e.steps == 0; });
    // Behind its last work a program waits because it would end before the GPU does.
    const bool is_last = step.once && std::all_of(step.ops.begin() + static_cast<std::ptrdiff_t>(i), step.ops.end(),
                                                  [](const StepOp& later) { return later.kind == StepOp::Kind::wait; });
    const bool is_needless = op.kind == StepOp::Kind::wait && of_this_step && !op.after.empty() && !results.any() &&
                             !manages_memory(op.name) && !results.are_awaited_by(i) && !is_last;
    results.perform(i);
    if (is_needless) {
      edit.leave_out(i);
      ++dropped;
    } else {
      edit.keep(i);
    }
  }
  if (dropped == 0) return std::nullopt;
  return ChangedStep{
      .step = std::move(edit).finish(),
      .what = fmt::format("Drop {} {} of the host in a step, after which it reads no result", dropped,
                          dropped == 1 ? "wait" : "waits"),
      .allowed_if =
          "The host reads nothing that the GPU writes by itself (managed or mapped memory), and does not "
          "reuse an array before its copy has ended. Work in another stream that needs what ran before the wait is "
          "ordered by an event instead. A wait that is there to measure time may stay in a "
          "version that measures."};
}

}  // namespace shiplap
