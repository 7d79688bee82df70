#include "shiplap/plan/layer_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/races.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap {
namespace {

/// Steps that are simulated one after the other. The last ones are as all that follow.
constexpr std::size_t simulated_steps = 4;

/// Models of very many layers are tried with fewer rings.
constexpr std::size_t most_layer_ops = 1'500'000;

/// What decides how much of each layer is streamed: its share of all weights, or of all time.
enum class Spread { by_weight, by_time };
/// Which tensors of a layer are streamed first. Small ones pass through a small ring.
enum class Prefer { large, small };
/// Tensors below this size are streamed last: their copies take longer than their bytes.
constexpr Bytes least_to_prefer{1 << 20};

const LinkModel& link_of(const Profile& profile) {
  const LinkModel* const link = profile.find_link(0);
  if (link == nullptr) throw Unsupported(fmt::format("profile {} has no link to copy over", profile.name));
  return *link;
}

/// What is kept of each layer.
class Keeping {
 public:
  Keeping(const LayeredModel& model, Spread spread, Prefer prefer) : model_(model), prefer_(prefer) {
    const double weights = in_bytes(model.weights());
    const double time = model.compute().count();
    for (const ModelLayer& layer : model.layers) {
      const double by_weight = weights > 0 ? in_bytes(layer.weights()) / weights : 0;
      const double by_time = time > 0 ? layer.time.count() / time : by_weight;
      share_.push_back(spread == Spread::by_weight ? by_weight : by_time);
    }
  }

  /// Keeps as much as fits in `most`, spread over the layers, and streams at most `cap` of each. What has been streamed
  /// up to a layer follows the layers' shares, so the link never waits long for a layer that has nothing to stream. May
  /// keep more than `most` where the cap leaves no choice.
  std::vector<PlannedLayer> keep(Bytes most, Bytes cap) const {
    const Bytes all = model_.weights();
    const double to_stream = in_bytes(all - std::min(all, most));
    std::vector<PlannedLayer> layers;
    double wanted = 0;
    double streamed = 0;
    Bytes kept;
    for (std::size_t l = 0; l < model_.layers.size(); ++l) {
      const std::vector<Bytes>& tensors = model_.layers[l].tensors;
      PlannedLayer& layer = layers.emplace_back();
      layer.kept.assign(tensors.size(), true);
      wanted += to_stream * share_[l];
      for (const std::size_t t : by_preference(tensors)) {
        const Bytes size = aligned_weight(tensors[t]);
        if (streamed + in_bytes(size) / 2 > wanted || layer.streamed + size > cap) continue;
        layer.kept[t] = false;
        layer.streamed += size;
        streamed += in_bytes(size);
      }
      kept += model_.layers[l].weights() - layer.streamed;
    }
    stream_more(layers, kept, most, cap);
    keep_more(layers, kept, most);
    return layers;
  }

 private:
  std::vector<std::size_t> by_preference(const std::vector<Bytes>& tensors) const {
    std::vector<std::size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      const bool a_is_small = tensors[a] < least_to_prefer;
      const bool b_is_small = tensors[b] < least_to_prefer;
      if (a_is_small != b_is_small) return b_is_small;
      return prefer_ == Prefer::large ? tensors[a] > tensors[b] : tensors[a] < tensors[b];
    });
    return order;
  }

  struct Tensor {
    std::size_t layer = 0;
    std::size_t number = 0;
    Bytes size{};
  };
  std::vector<Tensor> tensors(const std::vector<PlannedLayer>& layers, bool kept) const {
    std::vector<Tensor> found;
    for (std::size_t l = 0; l < layers.size(); ++l)
      for (std::size_t t = 0; t < layers[l].kept.size(); ++t)
        if (layers[l].kept[t] == kept) found.push_back({l, t, aligned_weight(model_.layers[l].tensors[t])});
    return found;
  }

  /// Streams what is kept beyond the limit: each time the tensor that leaves the least room, of the layer that streams
  /// the least.
  void stream_more(std::vector<PlannedLayer>& layers, Bytes& kept, Bytes most, Bytes cap) const {
    while (kept > most) {
      const Bytes excess = kept - most;
      std::vector<Tensor> all = tensors(layers, true);
      std::erase_if(
          all, [&](const Tensor& one) { return one.size.count == 0 || layers[one.layer].streamed + one.size > cap; });
      if (all.empty()) return;
      const auto is_better = [&](const Tensor& a, const Tensor& b) {
        const bool a_is_enough = a.size >= excess;
        const bool b_is_enough = b.size >= excess;
        if (a_is_enough != b_is_enough) return a_is_enough;
        if (a.size != b.size) return a_is_enough ? a.size < b.size : a.size > b.size;
        return layers[a.layer].streamed < layers[b.layer].streamed;
      };
      const Tensor one = *std::ranges::min_element(all, is_better);
      layers[one.layer].kept[one.number] = false;
      layers[one.layer].streamed += one.size;
      kept = kept - one.size;
    }
  }

  /// Keeps more where there is room: the largest that fits, of the layer that streams the most.
  void keep_more(std::vector<PlannedLayer>& layers, Bytes& kept, Bytes most) const {
    while (kept <= most) {
      const Bytes room = most - kept;
      std::optional<Tensor> best;
      for (const Tensor& one : tensors(layers, false))
        if (one.size.count > 0 && one.size <= room &&
            (!best || one.size > best->size ||
             (one.size == best->size && layers[one.layer].streamed > layers[best->layer].streamed)))
          best = one;
      if (!best) return;
      layers[best->layer].kept[best->number] = true;
      layers[best->layer].streamed = layers[best->layer].streamed - best->size;
      kept += best->size;
    }
  }

  const LayeredModel& model_;
  Prefer prefer_;
  std::vector<double> share_;
};

Bytes largest_streamed(const std::vector<PlannedLayer>& layers) {
  Bytes most;
  for (const PlannedLayer& layer : layers) most = std::max(most, layer.streamed);
  return most;
}

/// A layer is copied in at most about this many pieces. The next one begins to arrive where a piece has become free.
constexpr std::uint64_t pieces_of_layer = 4;

/// Streamed weights of a layer, placed one after the other from `begin` on. What does not fit at the end of the ring
/// begins at its start.
std::vector<LayerPiece> pieces_from(const ModelLayer& layer, const PlannedLayer& planned, Bytes ring, Bytes begin) {
  std::vector<LayerPiece> pieces;
  Bytes from;
  for (std::size_t t = 0; t < layer.tensors.size(); ++t) {
    const Bytes size = aligned_weight(layer.tensors[t]);
    if (planned.kept[t] || size.count == 0) continue;
    const bool is_at_start = begin + size > ring;
    if (is_at_start) begin = Bytes{};
    if (!pieces.empty() && !is_at_start && pieces.back().size + size <= planned.streamed / (pieces_of_layer - 1))
      pieces.back().size += size;
    else
      pieces.push_back({.from = from, .place = begin, .size = size});
    from += size;
    begin += size;
  }
  return pieces;
}

bool overlap(const LayerPiece& one, const LayerPiece& other) {
  return one.place < other.place + other.size && other.place < one.place + one.size;
}

/// Places the streamed weights in the ring, layer after layer.
void place(const LayeredModel& model, std::vector<PlannedLayer>& layers, Bytes ring) {
  Bytes end;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    PlannedLayer& layer = layers[l];
    if (layer.streamed.count == 0) continue;
    layer.pieces = pieces_from(model.layers[l], layer, ring, end);
    const bool meets_itself = std::ranges::any_of(layer.pieces, [&](const LayerPiece& one) {
      return std::ranges::any_of(layer.pieces,
                                 [&](const LayerPiece& other) { return &one != &other && overlap(one, other); });
    });
    if (meets_itself) layer.pieces = pieces_from(model.layers[l], layer, ring, Bytes{});
    end = layer.pieces.back().place + layer.pieces.back().size;
  }
}

/// Several steps one after the other. A copy waits for the kernels that still need what it overwrites.
Schedule schedule_of(const LayerPlan& plan) {
  Schedule schedule;
  const BufferId host = schedule.add_buffer(
      {.name = "weights", .place = Place::host(), .memory = MemoryKind::pinned, .size = plan.streamed});
  const BufferId ring =
      schedule.add_buffer({.name = "ring", .place = Place::gpu(), .memory = MemoryKind::device, .size = plan.ring});
  schedule.add_buffer({.name = "weights that stay",
                       .place = Place::gpu(),
                       .memory = MemoryKind::device,
                       .size = plan.kept + plan.model.fixed});
  const StreamId in = schedule.add_stream("in");
  const StreamId compute = schedule.add_stream("compute");
  for (const ModelLayer& layer : plan.model.layers) schedule.add_kernel(layer.name);
  std::uint32_t chunk = 0;
  for (std::size_t step = 0; step < simulated_steps; ++step) {
    Bytes from;
    for (std::size_t l = 0; l < plan.layers.size(); ++l, ++chunk) {
      Kernel kernel{.kernel = KernelId{static_cast<std::uint32_t>(l)},
                    .first_item = l,
                    .items = 1,
                    .work = plan.model.layers[l].time,
                    .operands = {},
                    .flows = {}};
      for (const LayerPiece& piece : plan.layers[l].pieces) {
        const Region there{ring, piece.place, piece.size};
        schedule.add({.what = Copy{{host, from, piece.size}, there},
                      .stream = in,
                      .agent = AgentId{0},
                      .after = {},
                      .chunk = chunk});
        kernel.operands.push_back({.region = there, .mode = AccessMode::read});
        from += piece.size;
      }
      schedule.add({.what = std::move(kernel), .stream = compute, .agent = AgentId{0}, .after = {}, .chunk = chunk});
    }
  }
  order_conflicts(schedule, OpId{0});
  return schedule;
}

/// Simulates the plan, and takes from it the time of a first step and of a later one.
void simulate_steps(const Profile& profile, LayerPlan& plan) {
  Schedule schedule = schedule_of(plan);
  plan.timeline = simulate(schedule, profile).timeline;
  std::array<Seconds, simulated_steps> ends{};
  std::size_t kernels = 0;
  for (std::size_t i = 0; i < schedule.ops.size(); ++i)
    if (std::holds_alternative<Kernel>(schedule.ops[i].what)) {
      Seconds& end = ends[kernels++ / plan.layers.size()];
      end = std::max(end, plan.timeline.spans[i].end);
    }
  plan.schedule = std::make_shared<const Schedule>(std::move(schedule));
  plan.first = ends.front();
  const Seconds later = (ends[simulated_steps - 1] - ends[1]) / static_cast<double>(simulated_steps - 2);
  // What the link takes has the interval of its rate.
  const Interval<PerByte>& rate = link_of(profile).h2d.per_byte;
  const Seconds copies = plan.streamed * rate.value;
  const double of_link = later > Seconds{0} ? std::min(1.0, copies / later) : 0;
  const auto with_rate = [&](PerByte other) {
    const double factor = copies > Seconds{0} ? plan.streamed * other / copies : 1;
    return std::max(std::min(later, plan.model.compute()), later * (1 + of_link * (factor - 1)));
  };
  plan.predicted =
      Interval<Seconds>{later, std::min(later, with_rate(rate.low)), std::max(later, with_rate(rate.high))};
}

Seconds bound_of(const Profile& profile, const LayeredModel& model, Bytes memory) {
  const Bytes all = model.weights();
  const Bytes room = memory - std::min(memory, model.fixed);
  const Bytes rest = all - std::min(all, room);
  return std::max(model.compute(), rest * link_of(profile).h2d.per_byte.value);
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
    if (memory_ < least)
      throw Unsupported(fmt::format("{}: the largest layer needs {} on the GPU, but {} may be used", model_.name,
                                    to_string(least), to_string(memory_)));
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
    place(model_, plan.layers, plan.ring);
    Tried result;
    for (const LayeredModel& assumed : assumed_) {
      plan.model = assumed;
      simulated_ += simulated_steps * 2 * plan.layers.size();
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
