// Which weights of a layered model stay on the GPU while the others are streamed.
#pragma once

#include <cstddef>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/plan/layer_plan.hpp"

namespace shiplap {

/// What decides how much of each layer is streamed: its share of all weights, or of all time.
enum class Spread { by_weight, by_time };
/// Which tensors of a layer are streamed first. Small ones pass through a small ring.
enum class Prefer { large, small };

/// What is kept of each layer.
class Keeping {
 public:
  Keeping(const LayeredModel&, Spread, Prefer);

  /// Keeps as much as fits in `most`, spread over the layers, and streams at most `cap` of each. What has been streamed
  /// up to a layer follows the layers' shares, so the link never waits long for a layer that has nothing to stream. May
  /// keep more than `most` where the cap leaves no choice.
  std::vector<PlannedLayer> keep(Bytes most, Bytes cap) const;

 private:
  struct Tensor {
    std::size_t layer = 0;
    std::size_t number = 0;
    Bytes size{};
  };
  std::vector<std::size_t> by_preference(const std::vector<Bytes>& tensors) const;
  std::vector<Tensor> tensors(const std::vector<PlannedLayer>&, bool kept) const;
  void stream_more(std::vector<PlannedLayer>&, Bytes& kept, Bytes most, Bytes cap) const;
  void keep_more(std::vector<PlannedLayer>&, Bytes& kept, Bytes most) const;

  const LayeredModel& model_;
  Prefer prefer_;
  std::vector<double> share_;
};

}  // namespace shiplap
