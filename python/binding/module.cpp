// The extension module shiplap._core.
#include <nanobind/nanobind.h>

#include <atomic>
#include <thread>

#include "binding/parts.hpp"
#include "shiplap/version.h"

namespace shiplap::python {

namespace {
std::atomic<bool> ends{false};
std::thread::id ended_by;  // set before `ends`
}  // namespace

bool python_ends() { return ends && std::this_thread::get_id() != ended_by; }

/// Python calls the functions of atexit before anything of it is gone.
void watch_the_end() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    end_runs();  // their kernels need Python
    ended_by = std::this_thread::get_id();
    ends = true;
  }));
}

void bind_errors(nb::module_& m) {
  // The order matters: later translators are tried first, and derived classes must be.
  const nb::exception<Error> error(m, "Error", PyExc_RuntimeError);
  nb::exception<UsageError>(m, "UsageError", nb::make_tuple(error, nb::handle(PyExc_ValueError)).ptr());
  nb::exception<Unsupported>(m, "Unsupported", error.ptr());
  nb::exception<CheckFailed>(m, "CheckFailed", error.ptr());
  nb::exception<Cancelled>(m, "Cancelled", error.ptr());
  nb::exception<TimedOut>(m, "TimedOut", error.ptr());
}

}  // namespace shiplap::python

NB_MODULE(_core, m) {
  m.doc() = "The C++ library of shiplap. Use the package shiplap, which is made of it.";
  m.attr("version") = SHIPLAP_VERSION;
  nanobind::set_leak_warnings(false);  // other modules keep objects of this one at the end; tests count what is left
  shiplap::python::watch_the_end();
  shiplap::python::bind_errors(m);
  shiplap::python::bind_job(m);
  shiplap::python::bind_node(m);
  shiplap::python::bind_plan(m);
  shiplap::python::bind_step(m);
  shiplap::python::bind_layers(m);
  shiplap::python::bind_copies(m);
  shiplap::python::bind_adaptive(m);
  shiplap::python::bind_advise(m);
}
