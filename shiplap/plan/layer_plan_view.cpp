#include "shiplap/plan/layer_plan_view.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/record.hpp"

namespace shiplap {

template <class V, Like<LayerView> R>
void describe(V& v, R& layer) {
  v.field("name", layer.name, "name of the layer");
  v.field("kept", layer.kept, "weights that stay on the GPU");
  v.field("streamed", layer.streamed, "weights that a step copies to the GPU");
  v.field("time", layer.time, "time of its kernels with its weights on the GPU");
}

template <class V, Like<LayerPoint> R>
void describe(V& v, R& point) {
  v.field("memory", point.memory, "limit of device memory");
  v.field("predicted", point.predicted, "predicted time of a step");
  v.field("bound", point.bound, "no way to run it takes less");
}

template <class V, Like<LayerPlanView> R>
void describe(V& v, R& plan) {
  v.header(formats::layer_plan);
  v.field("name", plan.name, "name of the model");
  v.field("predicted", plan.predicted, "predicted time of a step that follows others");
  v.field("first", plan.first, "predicted time of the first step");
  v.field("bound", plan.bound, "no way to run a step takes less");
  v.or_null("compute", plan.compute, "time of all kernels, where it is known");
  v.field("memory", plan.memory, "limit of device memory");
  v.field("kept", plan.kept, "weights that stay on the GPU");
  v.field("streamed", plan.streamed, "weights that a step copies to the GPU");
  v.field("ring", plan.ring, "device memory that they pass through");
  v.field("fixed", plan.fixed, "what is on the GPU besides");
  v.field("layers", plan.layers, "layers, in the order in which they run");
  v.field("points", plan.points, "what a step takes under other limits of memory");
}

LayerPlanView layer_plan_view(const LayerPlan& plan, std::vector<LayerPoint> points) {
  LayerPlanView view{.name = plan.model.name,
                     .predicted = plan.predicted,
                     .first = plan.first,
                     .bound = plan.bound,
                     .compute = plan.model.compute(),
                     .memory = plan.memory,
                     .kept = plan.kept,
                     .streamed = plan.streamed,
                     .ring = plan.ring,
                     .fixed = plan.model.fixed,
                     .points = std::move(points)};
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    const ModelLayer& layer = plan.model.layers[l];
    view.layers.push_back({.name = layer.name,
                           .kept = layer.weights() - plan.layers[l].streamed,
                           .streamed = plan.layers[l].streamed,
                           .time = layer.time});
  }
  return view;
}

Json to_json(const LayerPlanView& view) { return write_record(view); }
void from_json(const JsonReader& json, LayerPlanView& view) { read_record(json, view); }
Json json_schema(const LayerPlanView&) {
  return document_schema<LayerPlanView>("shiplap layer plan", "A planned model: `shiplap plan --layers FILE --json`.");
}

}  // namespace shiplap
