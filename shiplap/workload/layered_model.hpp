// A model of several layers whose weights are in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// A layer: what runs as one piece, with all of its weights on the GPU.
struct ModelLayer {
  std::string name{};            ///< name in messages and pictures
  std::uint64_t times = 1;       ///< how many such layers follow each other, each with weights of its own
  std::vector<Bytes> tensors{};  ///< sizes of its weights; each of them is kept on the GPU or streamed as a whole
  Seconds time{0};               ///< time of its kernels in a step, with its weights on the GPU

  Bytes weights() const;  ///< size of the weights of one such layer, each aligned
};

/// A model. A step runs all of its layers in their order.
struct LayeredModel {
  std::string name{"model"};
  std::vector<ModelLayer> layers{};
  Bytes fixed{};  ///< what is on the GPU besides, such as buffers, activations and weights that several layers share

  Bytes weights() const;    ///< size of the weights of all layers, each aligned
  Seconds compute() const;  ///< time of all kernels
  /// The same with each layer on its own, so that `times` is 1 everywhere.
  LayeredModel each() const;
};

/// Size of the tensors of a layer where each begins at a multiple of `alignment_of_weights`.
Bytes aligned_weight(Bytes size);
/// Tensors begin at multiples of this many bytes, which is what PyTorch's allocator guarantees.
inline constexpr std::uint64_t alignment_of_weights = 512;

/// Throws UsageError for a model without layers, with too many of them or of weights, and for sizes that cannot be
/// added up.
void require_layers(const LayeredModel&);

Json to_json(const LayeredModel&);                 ///< the model with its schema and version
void from_json(const JsonReader&, LayeredModel&);  ///< reads what to_json wrote; throws Error that names the key
Json json_schema(const LayeredModel&);             ///< JSON Schema of what to_json writes

}  // namespace shiplap
