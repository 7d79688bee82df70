// The rule for models whose weights are in host memory: each layer's are copied before its kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "shiplap/advise/host_times.hpp"
#include "shiplap/advise/rules.hpp"
#include "shiplap/advise/step_edit.hpp"

namespace shiplap {
namespace {

constexpr std::size_t fewest_layers = 4;     // fewer are arrays of a program like any other
constexpr Bytes smallest_weight{64 * 1024};  // where it is not known that the bytes stay the same
constexpr std::size_t layers_of_models = 8;  // this number speaks for weights where contents are unknown
constexpr double part_for_weights = 0.5;     // the fraction of the GPU's memory that weights may take

/// Copies to the GPU, and the kernels that follow.
struct RecordedLayer {
  std::vector<std::size_t> weights{};
  Bytes size{};
  std::size_t first_kernel = 0;
  std::size_t last_kernel = 0;
};

bool may_be_weight(const StepOp& op) {
  return is_copy(op) && op.to_device && (op.same_content || (!op.changed_content && op.size >= smallest_weight));
}

/// The layers; none where the copies of a step are something else: they come between others of several threads or GPUs,
/// or results come back between them.
std::vector<RecordedLayer> layers_of(const ProgramStep& step) {
  std::vector<RecordedLayer> layers;
  bool has_computed = true;
  std::size_t results = 0;
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    const StepOp& op = step.ops[i];
    if (op.thread != step.ops.front().thread) return {};
    if (op.kind == StepOp::Kind::wait) continue;
    if (op.gpu != step.ops.front().gpu) return {};
    if (may_be_weight(op)) {
      if (has_computed) layers.push_back({});
      has_computed = false;
      layers.back().weights.push_back(i);
      layers.back().size += op.size;
    } else if (op.kind == StepOp::Kind::kernel && !layers.empty()) {
      if (!has_computed) layers.back().first_kernel = i;
      has_computed = true;
      layers.back().last_kernel = i;
    } else if (is_copy(op) && !op.to_device && op.size >= smallest_weight) {
      ++results;
    }
  }
  if (!has_computed || layers.size() < fewest_layers || 2 * results > layers.size()) return {};
  return layers;
}

/// Whether a host thread waits for nothing but weights.
bool waits_for_weights(const ProgramStep& step, const StepOp& op, const std::vector<bool>& is_weight) {
  return op.kind == StepOp::Kind::wait && !step.has_inferred_waits && !op.after.empty() &&
         std::ranges::all_of(op.after, [&](const EarlierOp& earlier) { return is_weight[earlier.op]; });
}

/// The step with its weights in another order: those of a layer are copied while the layer before computes, into the
/// place that the layer two before had. Of each the part `streamed` is copied, the rest stays on the GPU.
class StreamedStep {
 public:
  StreamedStep(const ProgramStep& step, const std::vector<RecordedLayer>& layers, double streamed,
               const Profile& profile)
      : step_(step), layers_(layers), streamed_(streamed), profile_(profile), edit_(step), is_weight_(step.ops.size()) {
    for (const RecordedLayer& layer : layers)
      for (const std::size_t i : layer.weights) is_weight_[i] = true;
  }

  ProgramStep made() && {
    std::size_t layer = 0;  // whose kernels come next
    for (std::size_t i = 0; i < step_.ops.size(); ++i) {
      const StepOp& op = step_.ops[i];
      if (is_weight_[i]) {
        if (streamed_ == 0) edit_.leave_out(i, is_for_copy(op));
        continue;
      }
      if (waits_for_weights(step_, op, is_weight_)) {
        edit_.leave_out(i, true);
        continue;
      }
      const bool begins = layer < layers_.size() && i == layers_[layer].first_kernel;
      // What the layer after this one needs, which may be the first one of the next step.
      if (begins) copy(layer + 1 == layers_.size() ? 0 : layer + 1, layer);
      StepOp& kept = edit_.keep(i);
      if (begins && streamed_ > 0) kept.after.push_back({layers_[layer].weights.back(), layer == 0 ? 1u : 0u});
      if (begins) ++layer;
    }
    return std::move(edit_).finish();
  }

 private:
  /// The weights of a layer are copied while layer `running` computes.
  void copy(std::size_t layer, std::size_t running) {
    if (streamed_ == 0) return;
    for (const std::size_t i : layers_[layer].weights) {
      StepOp& op = edit_.keep(i);
      if (is_for_copy(step_.ops[i])) op.host_before = op.allocating = Seconds{0};
      op.size = Bytes{static_cast<std::uint64_t>(std::ceil(static_cast<double>(op.size.count) * streamed_))};
      op.stream = free_stream(step_);
      op.host_memory = MemoryKind::pinned;
      op.blocks = false;
      op.time = op.call = op.returning = Seconds{0};
      op.same_content = false;  // the rest stays already
      op.after = {running == 0 ? EarlierOp{layers_.back().last_kernel, 1}
                               : EarlierOp{layers_[running - 1].last_kernel, 0}};
    }
  }

  /// Whether the time before a copy can have been spent for it, as for moving the module that has it.
  bool is_for_copy(const StepOp& op) const { return op.host_before <= time_of_preparing(profile_, op.size); }

  const ProgramStep& step_;
  const std::vector<RecordedLayer>& layers_;
  double streamed_;
  const Profile& profile_;
  StepEdit edit_;
  std::vector<bool> is_weight_;
};

}  // namespace

std::optional<ChangedStep> stream_layers(const ProgramStep& step, const Profile& profile) {
  const std::vector<RecordedLayer> layers = layers_of(step);
  if (layers.empty()) return std::nullopt;
  Bytes weights, largest;
  std::size_t count = 0;
  bool is_known = true, may_be_inputs = layers.size() < layers_of_models, is_of_torch = false;
  for (const RecordedLayer& layer : layers) {
    weights += layer.size;
    largest = std::max(largest, layer.size);
    count += layer.weights.size();
    for (const std::size_t i : layer.weights) {
      const StepOp& op = step.ops[i];
      is_known = is_known && op.same_content;
      may_be_inputs = may_be_inputs || (op.host_address != 0 && !op.same_address);
    }
  }
  may_be_inputs = may_be_inputs || 3 * largest.count > weights.count;
  for (const StepOp& op : step.ops) is_of_torch = is_of_torch || op.name.find("at::native") != std::string::npos;
  const double memory = profile.gpus.empty()
                            ? std::numeric_limits<double>::infinity()
                            : static_cast<double>(profile.gpus.front().memory.count) * part_for_weights;
  const bool fits = static_cast<double>(weights.count) <= memory;
  if (fits && is_known) return std::nullopt;  // keep_on_gpu
  const double ring = 2 * static_cast<double>(largest.count);
  if (!fits && ring >= memory) return std::nullopt;
  // A part of every layer stays, so that the link is busy all the time.
  const double streamed = fits ? 0 : 1 - (memory - ring) / static_cast<double>(weights.count);
  const Bytes crossing{static_cast<std::uint64_t>(static_cast<double>(weights.count) * streamed)};
  ChangedStep change{.step = StreamedStep(step, layers, streamed, profile).made(), .what = {}, .allowed_if = {}};
  change.what = fmt::format(
      "Each step copies {} in {} arrays to the GPU, a part before the kernels of each of {} layers: they {} weights. "
      "{}",
      to_string(weights), count, layers.size(), is_known ? "are" : "may be",
      fits ? "Keep them on the GPU, where there is memory for them"
           : fmt::format(
                 "Keep a part of every layer on the GPU, and copy the rest ({} in a step) from pinned memory while "
                 "the layer before computes",
                 to_string(crossing)));
  change.allowed_if =
      fmt::format("{}{} of the GPU's memory is for the weights.",
                  is_known ? ""
                           : "The arrays do not change between steps, which the recording does not "
                             "tell. ",
                  fits ? to_string(weights) : fmt::format("{}", to_string(Bytes{static_cast<std::uint64_t>(memory)})));
  change.once = crossing.count == 0 ? Seconds{0} : time_of_pinning(profile, {crossing});
  change.bound = !is_known;
  change.is_likely = is_of_torch && !may_be_inputs;
  return change;
}

}  // namespace shiplap
