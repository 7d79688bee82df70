// Models in layers that do not fit on the GPU, and their plans.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "binding/parts.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/pipeline/learn.hpp"
#include "shiplap/plan/layer_plan_view.hpp"
#include "shiplap/plan/relays.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap::python {
namespace {

struct PyLayerPlan {
  PyNode node;
  LayerPlan plan;
};

/// Layers: name, sizes of the weights in bytes, and seconds.
using PyLayers = std::vector<std::tuple<std::string, std::vector<std::uint64_t>, double>>;

LayeredModel model_of(std::string name, const PyLayers& layers, std::uint64_t fixed) {
  LayeredModel model{.name = std::move(name), .layers = {}, .fixed = Bytes{fixed}};
  for (const auto& [layer, sizes, seconds] : layers) {
    model.layers.push_back({.name = layer, .tensors = {}, .time = Seconds{seconds}});
    for (const std::uint64_t size : sizes) model.layers.back().tensors.push_back(Bytes{size});
  }
  return model;
}

/// The profile of the node, with all links where it has several GPUs.
Profile profile_of_layers(const PyNode& node) {
  const std::uint32_t gpus = node.device == nullptr ? 1 : node.device->info().gpus;
  if (gpus == 1) return profile_of(node.node);
  SearchSpace space;
  for (std::uint16_t gpu = 1; gpu < gpus; ++gpu) space.relays.push_back(gpu);
  std::vector<std::string> said;
  space = with_idle_relays(node.node, std::move(space), said);
  return with_relayed_link(profile_of_gpus(node.node, gpus), space.relays);
}

PyLayerPlan plan_of(const PyNode& node, std::string name, const PyLayers& layers, std::uint64_t fixed,
                    std::uint64_t memory) {
  PyLayerPlan result{.node = node, .plan = {}};
  with_python_errors([&] {
    const LayeredModel model = model_of(std::move(name), layers, fixed);
    const GilReleased released;
    result.plan = plan_layers(profile_of_layers(node), model, Bytes{memory});
  });
  return result;
}

PyLayerPlan timed(const PyLayerPlan& self, const std::vector<double>& seconds) {
  PyLayerPlan result{.node = self.node, .plan = {}};
  with_python_errors([&] {
    std::vector<Seconds> times;
    for (const double time : seconds) times.emplace_back(time);
    result.plan = with_times(profile_of_layers(self.node), self.plan, times);
  });
  return result;
}

std::string json_of(const PyLayerPlan& self, bool with_points) {
  return with_python_errors([&] {
    std::vector<LayerPoint> points;
    if (with_points) points = layer_points(profile_of_layers(self.node), self.plan.model);
    return json_text(to_json(layer_plan_view(self.plan, std::move(points))));
  });
}

/// For each layer: which of its weights stay, and of each piece of the others where it begins among them and in the
/// ring, and its size.
using PyPlaces =
    std::vector<std::pair<std::vector<bool>, std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>>>;
PyPlaces places_of(const PyLayerPlan& self) {
  PyPlaces places;
  for (const PlannedLayer& layer : self.plan.layers) {
    places.emplace_back(layer.kept, std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>());
    for (const LayerPiece& piece : layer.pieces)
      places.back().second.emplace_back(piece.from.count, piece.place.count, piece.size.count);
  }
  return places;
}

}  // namespace

void bind_layers(nb::module_& m) {
  nb::class_<PyLayerPlan>(m, "LayerPlan")
      .def_prop_ro("seconds", [](const PyLayerPlan& self) { return self.plan.predicted.value.count(); })
      .def_prop_ro("interval",
                   [](const PyLayerPlan& self) {
                     return std::pair(self.plan.predicted.low.count(), self.plan.predicted.high.count());
                   })
      .def_prop_ro("first_seconds", [](const PyLayerPlan& self) { return self.plan.first.count(); })
      .def_prop_ro("bound", [](const PyLayerPlan& self) { return self.plan.bound.count(); })
      .def_prop_ro("memory", [](const PyLayerPlan& self) { return self.plan.memory.count; })
      .def_prop_ro("kept", [](const PyLayerPlan& self) { return self.plan.kept.count; })
      .def_prop_ro("streamed", [](const PyLayerPlan& self) { return self.plan.streamed.count; })
      .def_prop_ro("ring", [](const PyLayerPlan& self) { return self.plan.ring.count; })
      .def("places", &places_of)
      .def("timed", &timed, nb::arg("seconds"))
      .def("explain", [](const PyLayerPlan& self) { return self.plan.explain(); })
      .def("to_json", &json_of, nb::arg("with_points"));
  m.def("plan_layers", &plan_of, nb::arg("node"), nb::arg("name"), nb::arg("layers"), nb::arg("fixed"),
        nb::arg("memory"));
  m.def(
      "bytes_of",
      [](const std::string& text, const std::string& what) {
        return with_python_errors([&] { return parse_bytes(text, what).count; });
      },
      nb::arg("text"), nb::arg("what"), "The number of bytes that a text such as 8GiB says.");
}

}  // namespace shiplap::python
