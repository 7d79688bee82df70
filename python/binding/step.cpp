// Steps: kernels and parts of the host over shared arrays, their plans, and runs of them.
#include "shiplap/pipeline/step.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "binding/parts.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/plan/step_plan_view.hpp"

namespace shiplap::python {
namespace {

/// A step with the Python objects that it needs, as PyJob has them.
struct PyStep {
  Step step;
  std::vector<nb::object> held{};
};

struct PyStepPlan {
  PyNode node;
  PyStep step;
  StepPlan plan;
};

struct PyPreparedStep {
  PyStepPlan plan;  ///< keeps the device and the arrays
  WithoutGil<PreparedStep> prepared;
  bool in_use = false;  ///< see SingleUse
};

std::vector<nb::object>& held_of(PyStep& step) { return step.held; }
std::vector<nb::object>& held_of(PyStepPlan& plan) { return plan.step.held; }
std::vector<nb::object>& held_of(PyPreparedStep& prepared) { return held_of(prepared.plan); }

void add_kernel(PyStep& self, const PyJob& job) {
  self.step.parts.emplace_back(job.job);
  self.held.insert(self.held.end(), job.held.begin(), job.held.end());
}

/// `accesses`: address, size in bytes, and whether the host writes, of each array or part of one.
void add_host(PyStep& self, std::string name, nb::object work,
              const std::vector<std::tuple<std::uintptr_t, std::uint64_t, bool>>& accesses, double seconds,
              nb::object owners) {
  HostPart part{.name = std::move(name), .work = {}, .time = Seconds{seconds}};
  for (const auto& [address, size, writes] : accesses)
    part.accesses.push_back({.data = reinterpret_cast<std::byte*>(address),
                             .size = Bytes{size},
                             .mode = writes ? AccessMode::write : AccessMode::read});
  self.held.push_back(std::move(owners));
  self.held.push_back(std::move(work));
  part.work = [function = self.held.back().ptr()] {
    const GilTaken taken;
    called_by_library([&] { call_python(function); });
  };
  self.step.parts.emplace_back(std::move(part));
}

PyStepPlan plan_of(const PyNode& node, const PyStep& step, std::uint64_t device_memory, bool check_reach, bool quick) {
  PyStepPlan result{.node = node, .step = step, .plan = {}};
  with_python_errors([&] {
    const GilReleased released;
    result.plan =
        plan(node.node, step.step, {.device_memory = Bytes{device_memory}, .check_reach = check_reach, .quick = quick});
  });
  return result;
}

PyPreparedStep prepare_plan(const PyStepPlan& self) {
  std::unique_ptr<PreparedStep> prepared;
  with_python_errors([&] {
    const GilReleased released;
    prepared = std::make_unique<PreparedStep>(device_of(self.node), self.plan, self.step.step);
  });
  return {.plan = self, .prepared = WithoutGil(std::move(prepared))};
}

double seconds_of_run(PyPreparedStep& self, double limit) {
  const SingleUse use(self.in_use);
  const Seconds time = interruptible([&](const std::function<bool()>& stop) {
    return self.prepared->run({.stop = stop, .limit = Seconds{limit}}).timeline.makespan;
  });
  return time.count();
}

void fetch(PyPreparedStep& self, const std::string& array) {
  const SingleUse use(self.in_use);
  with_python_errors([&] {
    const GilReleased released;
    self.prepared->fetch(array);
  });
}

}  // namespace

void bind_step(nb::module_& m) {
  nb::class_<PyStep>(m, "Step", nb::type_slots(Collected<PyStep>::slots))
      .def("__init__",
           [](PyStep* self, std::string name) {
             new (self) PyStep{.step = Step{.name = std::move(name), .parts = {}, .between = {}}};
           })
      .def("add_kernel", &add_kernel, nb::arg("job"))
      .def("add_host", &add_host, nb::arg("name"), nb::arg("work"), nb::arg("accesses"), nb::arg("seconds"),
           nb::arg("owners"))
      .def("repeat", [](PyStep& self, std::uint64_t times) { self.step.repeats = times; })
      .def("stays_on_gpu",
           [](PyStep& self, std::string array) { self.step = self.step.stays_on_gpu(std::move(array)); })
      .def("temporary", [](PyStep& self, std::string array) { self.step = self.step.temporary(std::move(array)); });
  nb::class_<PyStepPlan>(m, "StepPlan", nb::type_slots(Collected<PyStepPlan>::slots))
      .def("explain", [](const PyStepPlan& self) { return self.plan.explain(); })
      .def("to_json", [](const PyStepPlan& self) { return json_text(shiplap::to_json(step_plan_view(self.plan))); })
      .def("prepare", &prepare_plan)
      .def_prop_ro("predicted", [](const PyStepPlan& self) { return self.plan.predicted.value.count(); })
      .def_prop_ro("predicted_low", [](const PyStepPlan& self) { return self.plan.predicted.low.count(); })
      .def_prop_ro("predicted_high", [](const PyStepPlan& self) { return self.plan.predicted.high.count(); });
  nb::class_<PyPreparedStep>(m, "PreparedStep", nb::type_slots(Collected<PyPreparedStep>::slots))
      .def("run", &seconds_of_run)
      .def("close",
           [](PyPreparedStep& self) {
             const SingleUse use(self.in_use);
             self.prepared.close();
           })
      .def("changed", [](PyPreparedStep& self,
                         const std::string& array) { with_python_errors([&] { self.prepared->changed(array); }); })
      .def("fetch", &fetch);
  m.def("plan_step", &plan_of, nb::arg("node"), nb::arg("step"), nb::arg("device_memory"), nb::arg("check_reach"),
        nb::arg("quick"));
}

}  // namespace shiplap::python
