#include "shiplap/plan/kept_layers.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace shiplap {
namespace {

/// Tensors below this size are streamed last: their copies take longer than their bytes.
constexpr Bytes least_to_prefer{1 << 20};

}  // namespace

Keeping::Keeping(const LayeredModel& model, Spread spread, Prefer prefer) : model_(model), prefer_(prefer) {
  const double weights = in_bytes(model.weights());
  const double time = model.compute().count();
  for (const ModelLayer& layer : model.layers) {
    const double by_weight = weights > 0 ? in_bytes(layer.weights()) / weights : 0;
    const double by_time = time > 0 ? layer.time.count() / time : by_weight;
    share_.push_back(spread == Spread::by_weight ? by_weight : by_time);
  }
}

std::vector<PlannedLayer> Keeping::keep(Bytes most, Bytes cap) const {
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

std::vector<std::size_t> Keeping::by_preference(const std::vector<Bytes>& tensors) const {
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

std::vector<Keeping::Tensor> Keeping::tensors(const std::vector<PlannedLayer>& layers, bool kept) const {
  std::vector<Tensor> found;
  for (std::size_t l = 0; l < layers.size(); ++l)
    for (std::size_t t = 0; t < layers[l].kept.size(); ++t)
      if (layers[l].kept[t] == kept) found.push_back({l, t, aligned_weight(model_.layers[l].tensors[t])});
  return found;
}

/// Streams what is kept beyond the limit: each time the tensor that leaves the least room, of the layer that streams
/// the least.
void Keeping::stream_more(std::vector<PlannedLayer>& layers, Bytes& kept, Bytes most, Bytes cap) const {
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
void Keeping::keep_more(std::vector<PlannedLayer>& layers, Bytes& kept, Bytes most) const {
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

}  // namespace shiplap
