// Rules that let copies and kernels run at the same time.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "shiplap/advise/rules.hpp"
#include "shiplap/advise/step_edit.hpp"
#include "shiplap/advise/step_schedule.hpp"

namespace shiplap {
namespace {

constexpr std::size_t chunk_numbers[] = {2, 4, 8, 16, 32, 64};
constexpr std::size_t most_ops = 20'000;  // in all chunks together
constexpr Bytes least_chunk{256 * 1024};  // copies of one direction together

bool is_pinned_copy(const StepOp& op, bool to_device) {
  return op.kind == StepOp::Kind::copy && op.to_device == to_device && op.host_memory != MemoryKind::pageable;
}
bool is_kernel(const StepOp& op) { return op.kind == StepOp::Kind::kernel; }
bool is_wait(const StepOp& op) { return op.kind == StepOp::Kind::wait; }

/// A step that copies in, computes and copies out, one after the other.
struct Phases {
  std::vector<std::size_t> in, kernels, out, waits;
};

/// The phases, or nullopt when ops of a step are in another order or in several threads.
std::optional<Phases> phases_of(const ProgramStep& step) {
  Phases phases;
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    const StepOp& op = step.ops[i];
    if (op.thread != step.ops.front().thread || op.gpu != step.ops.front().gpu) return std::nullopt;
    if (is_wait(op)) {
      phases.waits.push_back(i);
    } else if (is_pinned_copy(op, true) && phases.kernels.empty() && phases.out.empty()) {
      phases.in.push_back(i);
    } else if (is_kernel(op) && !op.copies_to_host && phases.out.empty()) {
      phases.kernels.push_back(i);
    } else if (is_pinned_copy(op, false)) {
      phases.out.push_back(i);
    } else {
      return std::nullopt;
    }
  }
  if (phases.kernels.empty() || (phases.in.empty() && phases.out.empty())) return std::nullopt;
  return phases;
}

Bytes size_of(const ProgramStep& step, const std::vector<std::size_t>& copies) {
  Bytes size;
  for (const std::size_t i : copies) size += step.ops[i].size;
  return size;
}

/// Part `k` of `n` parts of an op.
StepOp part_of(StepOp op, std::size_t n, std::size_t k, std::uint32_t stream) {
  op.size = Bytes{op.size.count * (k + 1) / n - op.size.count * k / n};
  op.grid = std::max<std::uint64_t>(1, op.grid / n);
  op.time = op.time / static_cast<double>(n);
  op.stream = stream;
  op.blocks = false;
  op.returning = Seconds{0};
  op.after.clear();
  if (k > 0) op.host_before = op.allocating = Seconds{0};
  return op;
}

ProgramStep in_chunks(const ProgramStep& step, const Phases& phases, std::size_t chunks) {
  const std::uint32_t stream = free_stream(step);
  StepEdit edit(step);
  std::size_t last_out = 0, last_kernel = 0;
  for (std::size_t k = 0; k < chunks; ++k) {
    std::vector<EarlierOp> arrived, computed;
    for (const std::size_t i : phases.in) arrived.push_back({edit.add(part_of(step.ops[i], chunks, k, stream)), 0});
    for (const std::size_t i : phases.kernels) {
      StepOp kernel = part_of(step.ops[i], chunks, k, stream + 1);
      kernel.after = arrived;
      last_kernel = edit.add(std::move(kernel));
    }
    computed.push_back({last_kernel, 0});
    for (const std::size_t i : phases.out) {
      StepOp copy = part_of(step.ops[i], chunks, k, stream + 2);
      copy.after = computed;
      last_out = edit.add(std::move(copy));
    }
  }
  for (const std::size_t i : phases.waits) edit.leave_out(i);
  edit.add({.kind = StepOp::Kind::wait,
            .name = "cudaStreamSynchronize",
            .thread = step.ops.front().thread,
            .after = {{phases.out.empty() ? last_kernel : last_out, 0}}});
  return std::move(edit).finish();
}

}  // namespace

std::optional<ChangedStep> overlap_steps(const ProgramStep& step, const Profile&) {
  const std::optional<Phases> phases = phases_of(step);
  if (!phases || phases->in.empty()) return std::nullopt;
  const auto crosses_steps = [](const StepOp& op) {
    return std::ranges::any_of(op.after, [](const EarlierOp& e) { return e.steps > 0; });
  };
  if (std::ranges::any_of(step.ops, crosses_steps)) return std::nullopt;  // its steps overlap already, in some way
  const std::uint32_t copies = free_stream(step);
  StepEdit edit(step);
  // The kernels come first, on the input that was copied in the step before.
  std::vector<EarlierOp> arrived;
  const std::size_t first_copy = phases->kernels.size();
  for (std::size_t i = 0; i < phases->in.size(); ++i) arrived.push_back({first_copy + i, 1});
  for (const std::size_t i : phases->kernels) {
    StepOp kernel = step.ops[i];
    kernel.after = arrived;
    edit.replace(i, edit.add(std::move(kernel)));
  }
  const std::size_t last_kernel = edit.size() - 1;
  for (const std::size_t i : phases->in) {
    StepOp copy = step.ops[i];
    copy.stream = copies;
    copy.blocks = false;
    copy.returning = Seconds{0};
    copy.after = {{last_kernel, 1}};  // the kernels of the step before have read the array that it overwrites
    edit.replace(i, edit.add(std::move(copy)));
  }
  std::size_t awaited = last_kernel;
  for (const std::size_t i : phases->out) {
    StepOp copy = step.ops[i];
    copy.stream = copies + 1;
    copy.blocks = false;
    copy.returning = Seconds{0};
    copy.after = {{last_kernel, 0}};
    awaited = edit.add(std::move(copy));
    edit.replace(i, awaited);
  }
  for (const std::size_t i : phases->waits) edit.leave_out(i);
  edit.add({.kind = StepOp::Kind::wait,
            .name = "cudaEventSynchronize",
            .thread = step.ops.front().thread,
            .after = {{awaited, 1}}});
  return ChangedStep{
      .step = std::move(edit).finish(),
      .what =
          "Let steps overlap: copy the input of the next step in another stream while this one computes, "
          "and wait for the results of a step in the next one",
      .allowed_if =
          "The next input is known while a step runs, its results are needed only a step later, "
          "and memory for two steps is on the GPU."};
}

std::optional<ChangedStep> cut_into_chunks_on_streams(const ProgramStep& step, const Profile& profile) {
  if (step.is_iteration) return std::nullopt;  // a part of the output needs more than its part of the input
  const std::optional<Phases> phases = phases_of(step);
  if (!phases || phases->waits.size() + phases->out.size() + phases->in.size() == 0) return std::nullopt;
  const Bytes largest = std::max(size_of(step, phases->in), size_of(step, phases->out));
  std::optional<ChangedStep> best;
  Seconds least{std::numeric_limits<double>::infinity()};
  for (const std::size_t chunks : chunk_numbers) {
    if (largest.count / chunks < least_chunk.count || chunks * step.ops.size() > most_ops) break;
    ProgramStep changed = in_chunks(step, *phases, chunks);
    const Seconds time = simulated_step(changed, profile).time;
    if (time >= least) break;  // more chunks cost more calls
    least = time;
    best = ChangedStep{
        .step = std::move(changed),
        .what = fmt::format("Cut the step into {} chunks on three streams (in, compute, out), so that copies "
                            "and kernels overlap",
                            chunks),
        .allowed_if =
            "Each part of the output needs only its part of the input. The kernels take as long "
            "for all chunks together as at once."};
  }
  return best;
}

std::optional<ChangedStep> access_host_memory(const ProgramStep& step, const Profile& profile) {
  const std::optional<Phases> phases = phases_of(step);
  const LinkModel* const link = profile.find_link(0);
  const bool has_rates = link != nullptr && link->zero_copy.has_value();
  constexpr Bytes least = 64_KiB;  // smaller copies take the time of their calls, and hardly any on the link
  if (!phases || !has_rates || size_of(step, phases->in) + size_of(step, phases->out) < least) return std::nullopt;
  StepEdit edit(step);
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    if (!is_kernel(step.ops[i])) {
      edit.leave_out(i);
      continue;
    }
    StepOp& op = edit.keep(i);
    if (i == phases->kernels.front()) op.reads_host = size_of(step, phases->in);
    if (i == phases->kernels.back()) op.writes_host = size_of(step, phases->out);
  }
  edit.add({.kind = StepOp::Kind::wait,
            .name = "cudaStreamSynchronize",
            .thread = step.ops.front().thread,
            .after = {{edit.size() - 1, 0}}});
  return ChangedStep{.step = std::move(edit).finish(),
                     .what = fmt::format("Let the kernels access {} of inputs and {} of results in pinned host memory "
                                         "(zero-copy), instead of copying them",
                                         to_string(size_of(step, phases->in)), to_string(size_of(step, phases->out))),
                     .allowed_if =
                         "The kernels read and write each of these bytes once, neighbouring threads "
                         "neighbouring bytes. Kernels that come back to their data are slower than copies.",
                     .once = Seconds{0},
                     .bound = true};
}

}  // namespace shiplap
