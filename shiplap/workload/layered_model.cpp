#include "shiplap/workload/layered_model.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/record.hpp"

namespace shiplap {
namespace {

/// The most layers of a model: each is an op of the schedules that are simulated.
constexpr std::uint64_t most_layers = 4096;
/// The most weights of a model, which the planner looks at again and again.
constexpr std::uint64_t most_tensors = 65536;
/// The most bytes of a model, so that sums do not overflow.
constexpr Bytes most_bytes{std::uint64_t{1} << 50};

/// A size as people write it, as in "436 MiB".
struct SizeText {
  static Json write(Bytes size) { return std::to_string(size.count) + "B"; }
  static Bytes read(const JsonReader& json) {
    const std::string text = json.string();
    try {
      return text == "0B" ? Bytes{} : parse_bytes(text, "size");
    } catch (const UsageError&) {
      json.fail("a size with its unit, as in 436MiB");
    }
  }
  static Json schema() { return {{"type", "string"}, {"examples", {"436MiB", "117440512B"}}}; }
};
struct SizeTexts {
  static Json write(const std::vector<Bytes>& sizes) {
    Json all = Json::array();
    for (const Bytes size : sizes) all.push_back(SizeText::write(size));
    return all;
  }
  static std::vector<Bytes> read(const JsonReader& json) {
    std::vector<Bytes> sizes;
    for (std::size_t i = 0; i < json.size(); ++i) sizes.push_back(SizeText::read(json.at(i)));
    return sizes;
  }
  static Json schema() { return {{"type", "array"}, {"items", SizeText::schema()}}; }
};
/// A time as people write it, as in "0.9ms".
struct TimeText {
  static Json write(Seconds time) { return fmt::format("{}s", time.count()); }
  static Seconds read(const JsonReader& json) {
    const std::string text = json.string();
    try {
      return text == "0s" ? Seconds{0} : parse_seconds(text, "time");
    } catch (const UsageError&) {
      json.fail("a time with its unit, as in 0.9ms");
    }
  }
  static Json schema() { return {{"type", "string"}, {"examples", {"0.9ms", "0s"}}}; }
};

}  // namespace

template <class V, Like<ModelLayer> R>
void describe(V& v, R& layer) {
  v.field("name", layer.name, "name of the layer");
  v.added("times", layer.times, "how many such layers follow each other", one_or_more<std::uint64_t>);
  v.field("tensors", layer.tensors, "sizes of its weights, each kept on the GPU or streamed as a whole", SizeTexts{});
  v.added("time", layer.time, "time of its kernels with its weights on the GPU", TimeText{});
}

template <class V, Like<LayeredModel> R>
void describe(V& v, R& model) {
  v.header(formats::layers);
  v.field("name", model.name, "name of the model");
  v.added("fixed", model.fixed, "what is on the GPU besides the weights of the layers", SizeText{});
  v.field("layers", model.layers, "layers, in the order in which they run");
}

Bytes aligned_weight(Bytes size) {
  return Bytes{(size.count + alignment_of_weights - 1) / alignment_of_weights * alignment_of_weights};
}

Bytes ModelLayer::weights() const {
  Bytes sum;
  for (const Bytes tensor : tensors) sum += aligned_weight(tensor);
  return sum;
}

Bytes LayeredModel::weights() const {
  Bytes sum;
  for (const ModelLayer& layer : layers) sum += layer.weights() * layer.times;
  return sum;
}

Seconds LayeredModel::compute() const {
  Seconds sum{0};
  for (const ModelLayer& layer : layers) sum += layer.time * static_cast<double>(layer.times);
  return sum;
}

LayeredModel LayeredModel::each() const {
  LayeredModel all{.name = name, .layers = {}, .fixed = fixed};
  for (const ModelLayer& layer : layers)
    for (std::uint64_t i = 0; i < layer.times; ++i)
      all.layers.push_back({.name = layer.times == 1 ? layer.name : fmt::format("{} {}", layer.name, i),
                            .tensors = layer.tensors,
                            .time = layer.time});
  return all;
}

void require_layers(const LayeredModel& model) {
  std::uint64_t count = 0;
  std::uint64_t tensors = 0;
  Bytes sum = model.fixed;
  if (sum > most_bytes) throw UsageError(fmt::format("{}: fixed is larger than {}", model.name, to_string(most_bytes)));
  for (const ModelLayer& layer : model.layers) {
    if (layer.times == 0 || layer.times > most_layers)
      throw UsageError(fmt::format("{}: layer {} stands for {} layers: give 1 to {}", model.name, layer.name,
                                   layer.times, most_layers));
    count += layer.times;
    tensors += layer.tensors.size() * layer.times;
    if (tensors > most_tensors)
      throw UsageError(fmt::format("{} has more than {} weights: take small ones together", model.name, most_tensors));
    for (const Bytes tensor : layer.tensors) {
      if (tensor > most_bytes)
        throw UsageError(
            fmt::format("{}: a weight of layer {} is larger than {}", model.name, layer.name, to_string(most_bytes)));
      sum += aligned_weight(tensor) * layer.times;
      if (sum > most_bytes) throw UsageError(fmt::format("{} is larger than {}", model.name, to_string(most_bytes)));
    }
  }
  if (count == 0) throw UsageError(fmt::format("{} has no layers", model.name));
  if (count > most_layers)
    throw UsageError(fmt::format("{} has {} layers: give at most {}", model.name, count, most_layers));
}

Json to_json(const LayeredModel& model) { return write_record(model); }
void from_json(const JsonReader& json, LayeredModel& model) {
  read_record(json, model);
  try {
    require_layers(model);
  } catch (const UsageError& error) {  // the fault is the file's
    throw Error(fmt::format("{}: {}", json.source(), error.what()));
  }
}
Json json_schema(const LayeredModel&) {
  return document_schema<LayeredModel>("shiplap layers", "A model whose layers are streamed: `shiplap plan --layers`.");
}

}  // namespace shiplap
