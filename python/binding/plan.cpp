// Plans, runs of them, and their reports.
#include "shiplap/pipeline/plan.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "binding/parts.hpp"
#include "shiplap/core/deadline.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/pipeline/plan_view.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/pipeline/run_async.hpp"
#include "shiplap/report/run_pictures.hpp"
#include "shiplap/report/sections.hpp"
#include "shiplap/report/svg.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap::python {
namespace {

/// A plan with what it needs to run.
struct PyPlan {
  PyNode node;
  PyJob job;
  Plan plan;
};

struct PyPrepared {
  PyPlan plan;  ///< keeps the device and the arrays
  WithoutGil<Prepared> prepared;
  bool in_use = false;  ///< see SingleUse
};

/// A run in flight. Those of all threads are known, so that none is left when Python ends.
class RunInFlight {
 public:
  explicit RunInFlight(Running run) : run_(std::move(run)) {
    const std::lock_guard in_turn(mutex());
    all().insert(this);
  }
  RunInFlight(const RunInFlight&) = delete;
  RunInFlight& operator=(const RunInFlight&) = delete;
  ~RunInFlight() {
    const std::lock_guard in_turn(mutex());
    all().erase(this);
  }
  Running& run() { return run_; }

  /// Cancels all of them and waits for their ends.
  static void end_all() {
    const GilReleased released;
    const std::lock_guard in_turn(mutex());
    for (RunInFlight* one : all()) one->run_.cancel();
    for (RunInFlight* one : all())
      while (!one->run_.wait_for(Seconds{1})) continue;
  }

 private:
  static std::mutex& mutex() {
    static auto& only = *new std::mutex;  // never destroyed: threads may end later
    return only;
  }
  static std::set<RunInFlight*>& all() {
    static auto& only = *new std::set<RunInFlight*>;
    return only;
  }
  Running run_;
};

/// A run that was started. The members end in the opposite order: the run before the use of what it runs on.
struct PyRun {
  std::vector<nb::object> held;  ///< the prepared plan, and what Python raised in the run
  std::unique_ptr<SingleUse> use;
  WithoutGil<RunInFlight> flight;
  int waiting = 0;  ///< threads in `result_of`
};

std::vector<nb::object>& held_of(PyPlan& plan) { return plan.job.held; }
std::vector<nb::object>& held_of(PyPrepared& prepared) { return prepared.plan.job.held; }
std::vector<nb::object>& held_of(PyRun& run) { return run.held; }

struct PlanRequest {
  std::vector<std::string> strategies;
  std::vector<std::uint32_t> chunks;
  std::vector<std::uint32_t> threads;
  std::uint32_t gpus = 1;
  std::uint64_t device_memory = 0;
  std::uint64_t runs = 1;
  bool may_pin = true;
  double race = 0;
  bool check_reach = false;
  std::optional<double> max_slowdown;
  bool quick = false;
  std::string saved;  ///< the file of a plan whose choice is taken
};

PyPlan plan_of(const PyNode& node, const PyJob& job, const PlanRequest& request) {
  PlanOptions options;
  if (request.saved.empty()) {
    options.space.strategies = request.strategies;
    options.space.chunks = request.chunks;
    options.space.threads = request.threads;
    options.space.gpus = request.gpus;
    options.space.max_slowdown = request.max_slowdown;
  } else {
    const PlanView saved = load_plan(request.saved);
    if (saved.pins && (!request.may_pin || request.quick))
      throw UsageError("the saved plan pins the arrays, which `may_pin` or `quick` leaves out: give pinned arrays");
    options = options_of(saved, job.job);
  }
  options.device_memory = Bytes{request.device_memory};
  if (request.saved.empty() || request.runs > 1) options.runs = request.runs;
  options.may_pin = request.may_pin;
  options.race = Seconds{request.race};
  options.check_reach = request.check_reach;
  options.quick = request.quick;
  PyPlan result{.node = node, .job = job, .plan = {}};
  if (node.device == nullptr)
    for (Array& array : result.job.job.arrays)
      if (array.memory != MemoryKind::device && array.data != nullptr)
        array.memory = kind_of(node, array.data, size_on_host(array));
  with_python_errors([&] {
    const GilReleased released;
    result.plan = plan(node.node, result.job.job, options);
  });
  return result;
}

/// The choice without arrays and functions, which it would keep alive, and without the other candidates: for other jobs
/// of the same shape.
PyPlan without_arrays(const PyPlan& self) {
  PyPlan plan = self;
  plan.job.held.clear();
  plan.plan.ranking.candidates = {plan.plan.chosen};
  for (Job* job : {&plan.job.job, &plan.plan.job}) {
    job->binding = {};
    for (Array& array : job->arrays) {
      array.data = nullptr;
      if (array.reach.elements || array.blocks)
        throw UsageError("a plan of arrays with a mapping or of blocks is for its own job only");
    }
  }
  return plan;
}

void run_once(const PyNode& node, const PyJob& job, std::uint64_t device_memory) {
  device_of(node);
  with_python_errors([&] {
    const GilReleased released;
    run_kernel_once(node.node, job.job, {.device_memory = Bytes{device_memory}});
  });
}

PyPrepared prepare_plan(const PyPlan& self) {
  std::unique_ptr<Prepared> prepared;
  with_python_errors([&] {
    const GilReleased released;
    prepared = std::make_unique<Prepared>(prepare(device_of(self.node), self.plan, self.job.job));
  });
  return {.plan = self, .prepared = WithoutGil(std::move(prepared))};
}

Trace trace_of(const std::string& name) {
  if (name == "none") return Trace::none;
  if (name == "best") return Trace::best;
  if (name == "events") return Trace::events;
  throw UsageError("trace \"" + name + "\": give none, best or events");
}

Report run_plan(const PyPlan& self, unsigned repeats, unsigned warm_up, bool ideal_overlap, const std::string& trace) {
  RunReportOptions options{
      .repeats = repeats, .warm_up = warm_up, .ideal_overlap = ideal_overlap, .trace = trace_of(trace)};
  return interruptible([&](const std::function<bool()>& stop) {
    options.stop = stop;
    return run(device_of(self.node), self.plan, self.job.job, options);
  });
}

std::string picture_of(const PyPlan& self) {
  const Candidate& chosen = self.plan.chosen;
  const std::array panels{SvgPanel{.label = "predicted", .schedule = *chosen.schedule, .timeline = chosen.timeline}};
  return svg(panels, {.title = self.plan.job.name + " on " + self.plan.ranking.profile,
                      .subtitle = to_string(chosen.choice),
                      .bound = self.plan.ranking.bound.time});
}

double seconds_of_run(PyPrepared& self, double limit) {
  const SingleUse use(self.in_use);
  const Seconds time = interruptible([&](const std::function<bool()>& stop) {
    return self.prepared->run({.stop = stop, .limit = Seconds{limit}}).timeline.makespan;
  });
  return time.count();
}

PyRun run_in_background(nb::handle prepared, std::uintptr_t stream, double limit) {
  PyPrepared& self = nb::cast<PyPrepared&>(prepared);
  auto use = std::make_unique<SingleUse>(self.in_use);
  std::unique_ptr<RunInFlight> flight;
  with_python_errors([&] {
    Prepared& of = *self.prepared.operator->();
    const GilReleased released;
    flight = std::make_unique<RunInFlight>(
        run_async(device_of(self.plan.node), of, reinterpret_cast<void*>(stream), {.limit = Seconds{limit}}));
  });
  return {.held = {nb::borrow(prepared)}, .use = std::move(use), .flight = WithoutGil(std::move(flight))};
}

bool has_ended(PyRun& self) {
  if (self.flight.is_closed()) return true;
  const bool ended = self.flight->run().has_ended();
  if (ended) self.use.reset();
  return ended;
}

/// Waits for the end of the run, for at most `timeout` seconds. What Python raises meanwhile, as Ctrl-C does, cancels
/// the run and leaves this function.
void wait_for(Running& run, std::optional<double> timeout) {
  const Seconds began = steady_time();
  interruptible([&](const std::function<bool()>& stop) {
    bool stopped = false;
    while (true) {
      Seconds wait = milliseconds(10);
      if (timeout && !stopped) wait = std::clamp(Seconds{*timeout} - (steady_time() - began), Seconds{0}, wait);
      if (run.wait_for(wait)) break;
      if (stopped) continue;
      stopped = stop();
      if (stopped)
        run.cancel();
      else if (timeout && steady_time() - began >= Seconds{*timeout})
        throw TimedOut("the run has not ended after " + to_string(Seconds{*timeout}) + ", and goes on");
    }
    if (stopped) throw Cancelled("Python was interrupted");
    return true;
  });
}

[[noreturn]] void raise_again(const nb::object& raised) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
  throw nb::python_error();
}

/// Waits as `wait_for` does, and returns the time of the run. What Python raised in it is kept as an object that
/// Python's garbage collector sees, and nowhere else; an exception of nanobind could also be given to Python only once.
double result_of(PyRun& self, std::optional<double> timeout) {
  if (self.held.size() > 1) raise_again(self.held[1]);
  RunInFlight& flight = *self.flight.operator->();
  ++self.waiting;
  try {
    wait_for(flight.run(), timeout);
  } catch (...) {
    --self.waiting;
    has_ended(self);
    throw;
  }
  --self.waiting;
  self.use.reset();
  try {
    return with_python_errors([&] { return flight.run().wait().timeline.makespan.count(); });
  } catch (const nb::python_error& raised) {
    if (self.held.size() == 1) self.held.push_back(nb::borrow(raised.value()));
  }
  if (self.waiting == 0) self.flight.close();
  raise_again(self.held[1]);
}

/// The slots of Collected, but that the run ends before what it needs.
struct RunSlots : Collected<PyRun> {
  static int clear(PyObject* self) {
    PyRun& run = *nb::inst_ptr<PyRun>(self);
    run.flight.close();
    run.use.reset();
    return Collected<PyRun>::clear(self);
  }
  static inline PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&Collected<PyRun>::traverse)},
                                       {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                                       {0, nullptr}};
};

}  // namespace

void end_runs() { RunInFlight::end_all(); }

void bind_plan(nb::module_& m) {
  nb::class_<PlanRequest>(m, "PlanOptions")
      .def(nb::init<>())
      .def_rw("strategies", &PlanRequest::strategies)
      .def_rw("chunks", &PlanRequest::chunks)
      .def_rw("threads", &PlanRequest::threads)
      .def_rw("gpus", &PlanRequest::gpus)
      .def_rw("device_memory", &PlanRequest::device_memory)
      .def_rw("runs", &PlanRequest::runs)
      .def_rw("may_pin", &PlanRequest::may_pin)
      .def_rw("race", &PlanRequest::race)
      .def_rw("check_reach", &PlanRequest::check_reach)
      .def_rw("quick", &PlanRequest::quick)
      .def_rw("saved", &PlanRequest::saved)
      .def_rw("max_slowdown", &PlanRequest::max_slowdown, nb::arg("value").none());
  nb::class_<PyPlan>(m, "Plan", nb::type_slots(Collected<PyPlan>::slots))
      .def("explain", [](const PyPlan& self, bool all) { return self.plan.explain(all); })
      .def("summary", [](const PyPlan& self) { return self.plan.summary(); })
      .def("to_json", [](const PyPlan& self) { return json_text(self.plan.to_json()); })
      .def("save",
           [](const PyPlan& self, const std::string& path) {
             write_file_atomically(path, json_text(self.plan.to_json(), 2) + "\n");
           })
      .def("picture", &picture_of)
      .def("prepare", &prepare_plan)
      .def("for_job",
           [](const PyPlan& self, const PyJob& job) {
             return PyPlan{self.node, job, self.plan};
           })
      .def("without_arrays", &without_arrays)
      .def("run", &run_plan, nb::arg("repeats"), nb::arg("warm_up"), nb::arg("ideal_overlap"), nb::arg("trace"))
      .def_prop_ro("predicted", [](const PyPlan& self) { return self.plan.chosen.predicted.value.count(); })
      .def_prop_ro("predicted_low", [](const PyPlan& self) { return self.plan.chosen.predicted.low.count(); })
      .def_prop_ro("predicted_high", [](const PyPlan& self) { return self.plan.chosen.predicted.high.count(); })
      .def_prop_ro("call", [](const PyPlan& self) { return self.plan.job.cost.call.count(); })
      .def_prop_ro("choice", [](const PyPlan& self) { return to_string(self.plan.chosen.choice); });
  nb::class_<PyPrepared>(m, "Prepared", nb::type_slots(Collected<PyPrepared>::slots))
      .def("run", &seconds_of_run)
      .def("start", &run_in_background, nb::arg("stream"), nb::arg("limit"))
      .def("close",
           [](PyPrepared& self) {
             const SingleUse use(self.in_use);
             self.prepared.close();
           })
      .def("changed",
           [](PyPrepared& self, const std::string& name) {
             const SingleUse use(self.in_use);
             with_python_errors([&] { self.prepared->changed(name); });
           })
      .def("fetch",
           [](PyPrepared& self, const std::string& name) {
             const SingleUse use(self.in_use);
             interruptible([&](const std::function<bool()>& stop) {
               self.prepared->fetch(name, {.stop = stop});
               return true;
             });
           })
      .def("check_kept", [](PyPrepared& self, bool on) {
        const SingleUse use(self.in_use);
        self.prepared->check_kept(on);
      });
  nb::class_<PyRun>(m, "Run", nb::type_slots(RunSlots::slots))
      .def("done", &has_ended)
      .def("result", &result_of, nb::arg("timeout").none())
      .def("cancel", [](PyRun& self) {
        if (!self.flight.is_closed()) self.flight->run().cancel();
      });
  nb::class_<Report>(m, "Report")
      .def("to_json", [](const Report& self) { return json_text(self.to_json()); })
      .def("text", [](const Report& self) { return document::text(document::run_section(run_view(self))); })
      .def("line", &Report::to_string)
      .def("picture", [](const Report& self) { return run_picture(self); })
      .def_prop_ro("traced", [](const Report& self) { return !self.timeline.spans.empty(); })
      .def_prop_ro("simulated", [](const Report& self) { return self.simulated; })
      .def_prop_ro("observed", [](const Report& self) { return self.observed.value.count(); })
      .def_prop_ro("predicted", [](const Report& self) { return self.planned.predicted.value.count(); })
      .def_prop_ro("samples", [](const Report& self) {
        std::vector<double> seconds;
        for (const Seconds sample : self.samples) seconds.push_back(sample.count());
        return seconds;
      });
  m.def("run_kernel_once", &run_once, nb::arg("node"), nb::arg("job"), nb::arg("device_memory"));
  m.def("plan", &plan_of, nb::arg("node"), nb::arg("job"), nb::arg("options"));
}

}  // namespace shiplap::python
