// A planned model in layers as it is written and shown.
#pragma once

#include <string>
#include <vector>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/plan/layer_plan.hpp"

namespace shiplap {

/// A layer as it is written and shown.
struct LayerView {
  std::string name{};
  Bytes kept{};      ///< weights that stay on the GPU
  Bytes streamed{};  ///< weights that a step copies
  Seconds time{0};   ///< time of its kernels
};
/// A plan as it is written and shown.
struct LayerPlanView {
  std::string name{};
  Interval<Seconds> predicted{};
  Seconds first{0};
  Seconds bound{0};
  Seconds compute{0};  ///< time of all kernels; 0: not known
  Bytes memory{};
  Bytes kept{};
  Bytes streamed{};
  Bytes ring{};
  Bytes fixed{};
  std::vector<LayerView> layers{};
  std::vector<LayerPoint> points{};  ///< by memory; empty: not asked
};

LayerPlanView layer_plan_view(const LayerPlan&, std::vector<LayerPoint> = {});  ///< what is shown of a plan
Json to_json(const LayerPlanView&);                 ///< the view with its schema and version
void from_json(const JsonReader&, LayerPlanView&);  ///< reads what to_json wrote; throws Error that names the key
Json json_schema(const LayerPlanView&);             ///< JSON Schema of what to_json writes

}  // namespace shiplap
