// Endless runs: batches of an input without an end, in pinned memory that the object owns.
#include "shiplap/pipeline/adaptive.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding/parts.hpp"

namespace shiplap::python {
namespace {

struct PyAdaptive {
  PyNode node;
  PyJob job;
  WithoutGil<Adaptive> adaptive;
  bool in_use = false;  ///< see SingleUse
};
std::vector<nb::object>& held_of(PyAdaptive& adaptive) { return adaptive.job.held; }

using Addresses = std::vector<std::pair<std::uintptr_t, std::size_t>>;
Addresses addresses_of(std::span<const std::span<std::byte>> arrays) {
  Addresses all;
  for (const std::span<std::byte> array : arrays)
    all.emplace_back(reinterpret_cast<std::uintptr_t>(array.data()), array.size());
  return all;
}

PyAdaptive make(const PyNode& node, const PyJob& given, std::uint32_t in_flight, nb::object sample) {
  device_of(node);
  PyJob batch = given;
  AdaptiveOptions options{.in_flight = in_flight};
  if (!sample.is_none())
    options.sample = [fill = batch.hold(std::move(sample))](std::span<const std::span<std::byte>> arrays) {
      const GilTaken taken;
      called_by_library([&] { call_python(fill, addresses_of(arrays)); });
    };
  std::unique_ptr<Adaptive> adaptive;
  with_python_errors([&] {
    const GilReleased released;
    adaptive = std::make_unique<Adaptive>(node.node, batch.job, std::move(options));
  });
  return {.node = node, .job = std::move(batch), .adaptive = WithoutGil(std::move(adaptive))};
}

AdaptiveReport run(PyAdaptive& self, nb::object source, nb::object sink) {
  const SingleUse use(self.in_use);
  const auto fill = [&](Batch& batch) {
    const GilTaken taken;
    return called_by_library([&] {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return nb::cast<bool>(call_python(source, batch.number, batch.slot));
    });
  };
  const Adaptive::Sink take = [&](const Batch& batch) {
    const GilTaken taken;
    called_by_library([&] { call_python(sink, batch.number, batch.slot); });
  };
  const bool has_sink = !sink.is_none();
  return with_python_errors([&] {
    const GilReleased released;
    return self.adaptive->run(fill, has_sink ? take : Adaptive::Sink{});
  });
}

}  // namespace

void bind_adaptive(nb::module_& m) {
  nb::class_<AdaptiveReport>(m, "AdaptiveReport")
      .def_ro("batches", &AdaptiveReport::batches)
      .def_ro("items", &AdaptiveReport::items)
      .def_ro("changes", &AdaptiveReport::changes)
      .def_prop_ro("elapsed", [](const AdaptiveReport& self) { return self.elapsed.count(); })
      .def_prop_ro("rate", &AdaptiveReport::rate)
      .def("__repr__", [](const AdaptiveReport& self) {
        return fmt::format("AdaptiveReport({} batches with {} items in {}: {:.4g} items/s, {} changes of the choice)",
                           self.batches, self.items, to_string(self.elapsed), self.rate(), self.changes);
      });
  nb::class_<PyAdaptive>(m, "Adaptive", nb::type_slots(Collected<PyAdaptive>::slots))
      .def_static("make", &make, nb::arg("node"), nb::arg("batch"), nb::arg("in_flight"), nb::arg("sample").none())
      .def("run", &run, nb::arg("source"), nb::arg("sink").none())
      .def("arrays", [](const PyAdaptive& self, std::size_t slot) { return addresses_of(self.adaptive->arrays(slot)); })
      .def_prop_ro("slots", [](const PyAdaptive& self) { return self.adaptive->slots(); });
}

}  // namespace shiplap::python
