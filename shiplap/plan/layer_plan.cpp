#include "shiplap/plan/layer_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/kept_layers.hpp"
#include "shiplap/plan/layer_steps.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {
namespace {

/// Models of very many layers are tried with fewer rings.
constexpr std::size_t most_layer_ops = 1'500'000;

Bytes largest_streamed(const std::vector<PlannedLayer>& layers) {
  Bytes most;
  for (const PlannedLayer& layer : layers) most = std::max(most, layer.streamed);
  return most;
}

Seconds bound_of(const Profile& profile, const LayeredModel& model, Bytes memory) {
  const Bytes all = model.weights();
  const Bytes room = memory - std::min(memory, model.fixed);
  const Bytes rest = all - std::min(all, room);
  return std::max(model.compute(), rest * link_of_layers(profile).h2d.per_byte.value);
}

/// The least memory with which a layer runs at all: everything passes through a ring of one slot.
Bytes least_memory(const LayeredModel& model) {
  Bytes largest;
  for (const ModelLayer& layer : model.layers) largest = std::max(largest, layer.weights());
  return model.fixed + largest;
}

class LayerSearch {
  /// A plan and how many times the bound it takes, summed over the times that count.
  struct Tried {
    LayerPlan plan{};
    double score = 0;
  };

 public:
  /// `most_ops`: how many ops may be simulated to improve the plan.
  LayerSearch(const Profile& profile, const LayeredModel& model, Bytes memory, std::size_t most_ops)
      : profile_(profile), model_(model), memory_(memory), most_ops_(most_ops) {
    if (model.compute() > Seconds{0} || model.weights().count == 0) {
      assumed_.push_back(model);
      return;
    }
    // No time is known: kernels may take a part of the time of the copies, as long, or several times as long.
    const Seconds copies = bound_of(profile, model, memory);
    for (const double factor : {0.1, 1.0, 4.0}) {
      LayeredModel& assumed = assumed_.emplace_back(model);
      for (ModelLayer& layer : assumed.layers)
        layer.time = copies * (factor * in_bytes(layer.weights()) / in_bytes(model.weights()));
    }
  }

  LayerPlan best() {
    const Bytes least = least_memory(model_);
    if (memory_ < least) {
      const ModelLayer& largest = *std::ranges::max_element(model_.layers, {}, &ModelLayer::weights);
      const std::string fixed = model_.fixed.count == 0
                                    ? ""
                                    : fmt::format(", beside {} that are there all the time", to_string(model_.fixed));
      throw Unsupported(fmt::format(
          "{}: the largest layer, {}, needs {} on the GPU{}, but {} may be used: allow at "
          "least {}, or split the layer",
          model_.name, largest.name, to_string(largest.weights()), fixed, to_string(memory_), to_string(least)));
    }
    room_ = memory_ - model_.fixed;
    if (model_.weights() <= room_) {
      try_one(Keeping(model_, Spread::by_weight, Prefer::large).keep(room_, Bytes{}));
      return std::move(best_->plan);
    }
    const Bytes largest = least_memory(model_) - model_.fixed;
    for (const Spread spread : {Spread::by_weight, Spread::by_time})
      for (const Prefer prefer : {Prefer::large, Prefer::small}) {
        const Keeping keeping(model_, spread, prefer);
        for (const double part : {3.0, 2.0, 1.5, 1.25, 1.0, 0.75, 0.5, 0.35, 0.25, 0.18, 0.125, 0.09})
          for (const double slots : {1.0, 1.25, 2.0, 3.0}) {
            const Bytes ring{static_cast<std::uint64_t>(in_bytes(largest) * part)};
            const Bytes cap{static_cast<std::uint64_t>(in_bytes(ring) / slots)};
            if (ring > room_ || (best_ && simulated_ > most_layer_ops)) continue;
            if (auto plan = try_one(keeping.keep(room_ - ring, cap))) found_.push_back(*std::move(plan));
          }
      }
    try_one(Keeping(model_, Spread::by_weight, Prefer::large).keep(Bytes{}, model_.weights()));
    improve();
    return std::move(best_->plan);
  }

 private:
  /// Changes what is kept, from the best of the plans so far on, as long as a step becomes shorter and the search is
  /// not long yet. A few tensors have all their sets tried.
  void improve() {
    std::vector<Tried> starts = std::move(found_);
    std::ranges::stable_sort(starts, {}, &Tried::score);
    const std::size_t ops = std::max<std::size_t>(1, best_->plan.schedule->ops.size() * assumed_.size());
    const std::size_t most = std::max<std::size_t>(16, most_ops_ / ops);
    attempts_left_ = most;
    for (std::size_t l = 0; l < model_.layers.size(); ++l)
      for (std::size_t t = 0; t < model_.layers[l].tensors.size(); ++t) tensors_.emplace_back(l, t);
    if (tensors_.size() < 16 && std::size_t{1} << tensors_.size() <= most) return try_all_sets();
    for (Tried& start : starts) {
      std::optional<Tried> here = std::move(start);
      while (here && attempts_left_ > 0) here = better_neighbour(*here);
    }
  }

  void try_all_sets() {
    for (std::size_t set = 0; set < std::size_t{1} << tensors_.size(); ++set) {
      std::vector<PlannedLayer> layers =
          Keeping(model_, Spread::by_weight, Prefer::large).keep(model_.weights(), Bytes{});
      for (std::size_t i = 0; i < tensors_.size(); ++i)
        if ((set >> i & 1) == 0) flip(layers, i);
      try_one(std::move(layers));
    }
  }

  void flip(std::vector<PlannedLayer>& layers, std::size_t tensor) const {
    const auto [l, t] = tensors_[tensor];
    layers[l].kept[t] = !layers[l].kept[t];
    const Bytes size = aligned_weight(model_.layers[l].tensors[t]);
    layers[l].streamed = layers[l].kept[t] ? layers[l].streamed - size : layers[l].streamed + size;
  }

  /// A plan that differs in one, two or three tensors and is faster, if there is one.
  std::optional<Tried> better_neighbour(const Tried& here) {
    std::optional<Tried> found;
    const auto is_better = [&](std::initializer_list<std::size_t> flipped) {
      --attempts_left_;
      std::vector<PlannedLayer> layers = here.plan.layers;
      for (const std::size_t tensor : flipped) flip(layers, tensor);
      found = try_one(std::move(layers));
      return found && found->score < here.score * 0.9999;
    };
    const std::size_t n = tensors_.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (attempts_left_ == 0) return std::nullopt;
      if (is_better({i})) return found;
    }
    for (std::size_t distance = 1; distance < n; ++distance)
      for (std::size_t i = 0; i + distance < n; ++i) {
        if (attempts_left_ == 0) return std::nullopt;
        if (is_better({i, i + distance})) return found;
      }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j)
        for (std::size_t k = j + 1; k < n; ++k) {
          if (attempts_left_ == 0) return std::nullopt;
          if (is_better({i, j, k})) return found;
        }
    return std::nullopt;
  }

  Bytes streamed_of(const std::vector<PlannedLayer>& layers) const {
    Bytes sum;
    for (const PlannedLayer& layer : layers) sum += layer.streamed;
    return sum;
  }
  Bytes kept_of(const std::vector<PlannedLayer>& layers) const { return model_.weights() - streamed_of(layers); }

  /// The ring has all the memory that is left.
  std::optional<Tried> try_one(std::vector<PlannedLayer> layers) {
    const Bytes kept = kept_of(layers);
    if (kept > room_) return std::nullopt;
    const Bytes ring = std::min(streamed_of(layers), room_ - kept);
    if (largest_streamed(layers) > ring) return std::nullopt;
    std::vector<bool> all;
    for (const PlannedLayer& layer : layers) all.insert(all.end(), layer.kept.begin(), layer.kept.end());
    if (!tried_.insert(std::move(all)).second) return std::nullopt;
    LayerPlan plan{.model = model_,
                   .layers = std::move(layers),
                   .memory = memory_,
                   .kept = kept,
                   .streamed = model_.weights() - kept,
                   .ring = Bytes{ring.count / alignment_of_weights * alignment_of_weights}};
    place_in_ring(model_, plan.layers, plan.ring);
    Tried result;
    for (const LayeredModel& assumed : assumed_) {
      plan.model = assumed;
      simulated_ += simulated_layer_steps * 2 * plan.layers.size();
      simulate_steps(profile_, plan);
      plan.bound = bound_of(profile_, assumed, memory_);
      result.score += plan.predicted.value.count() / std::max(1e-12, plan.bound.count());
    }
    result.plan = std::move(plan);
    if (!best_ || result.score < best_->score) best_ = result;
    return result;
  }

  const Profile& profile_;
  const LayeredModel& model_;
  std::vector<LayeredModel> assumed_;  // with the times that count
  Bytes memory_;
  Bytes room_{};                                              // for weights and the ring
  std::set<std::vector<bool>> tried_;                         // what is kept
  std::vector<Tried> found_;                                  // by rings of several sizes
  std::vector<std::pair<std::size_t, std::size_t>> tensors_;  // by layer and number in it
  std::size_t most_ops_;
  std::size_t attempts_left_ = 0;
  std::size_t simulated_ = 0;  // about how many ops
  std::optional<Tried> best_;
};

/// A plan has the times of the model again, if any.
LayerPlan best_plan(const Profile& profile, const LayeredModel& each, Bytes memory, std::size_t most_ops) {
  LayerPlan plan = LayerSearch(profile, each, memory, most_ops).best();
  if (each.compute() > Seconds{0}) return plan;
  return with_times(profile, std::move(plan), std::vector<Seconds>(each.layers.size()));
}

}  // namespace

LayerPlan plan_layers(const Profile& profile, const LayeredModel& model, Bytes memory) {
  require_layers(model);
  constexpr std::size_t most_ops = 100'000;
  return best_plan(profile, model.each(), memory, most_ops);
}

LayerPlan with_times(const Profile& profile, LayerPlan plan, std::span<const Seconds> times) {
  if (times.size() != plan.model.layers.size())
    throw UsageError(fmt::format("{} has {} layers, and {} times are given", plan.model.name, plan.model.layers.size(),
                                 times.size()));
  for (std::size_t l = 0; l < times.size(); ++l) plan.model.layers[l].time = times[l];
  simulate_steps(profile, plan);
  plan.bound = bound_of(profile, plan.model, plan.memory);
  return plan;
}

std::vector<LayerPoint> layer_points(const Profile& profile, const LayeredModel& model) {
  require_layers(model);
  const LayeredModel each = model.each();
  const Bytes least = least_memory(each);
  const Bytes most = each.fixed + each.weights();
  constexpr std::uint64_t steps = 16;
  std::vector<LayerPoint> points;
  for (std::uint64_t i = 0; i <= steps; ++i) {
    const Bytes memory = least + (most - least) * i / steps;
    if (!points.empty() && memory == points.back().memory) continue;
    constexpr std::size_t most_ops = 30'000;
    const LayerPlan plan = best_plan(profile, each, memory, most_ops);
    points.push_back({.memory = memory, .predicted = plan.predicted.value, .bound = plan.bound});
  }
  return points;
}

}  // namespace shiplap
