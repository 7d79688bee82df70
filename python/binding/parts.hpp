// What the parts of the extension module share. The module is private: the package in python/src/shiplap gives it
// the habits of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap::python {

namespace nb = nanobind;

void bind_errors(nb::module_&);
void bind_job(nb::module_&);
void bind_node(nb::module_&);
void bind_plan(nb::module_&);
void bind_adaptive(nb::module_&);

/// Whether the interpreter has begun to end. Threads cannot take the GIL then.
bool python_ends();

/// An object whose destructor waits for threads that may need the GIL.
template <class T>
class WithoutGil {
 public:
  explicit WithoutGil(std::unique_ptr<T> object) : object_(std::move(object)) {}
  WithoutGil(WithoutGil&&) noexcept = default;
  WithoutGil& operator=(WithoutGil&&) = delete;
  ~WithoutGil() {
    if (object_ == nullptr) return;
    nb::gil_scoped_release release;
    object_.reset();
  }
  T* operator->() const { return object_.get(); }

 private:
  std::unique_ptr<T> object_;
};

/// Throws the exception of Python that is nested in `error`, at any depth, if there is one. `error` is being handled.
inline void rethrow_python_error(const std::exception& error) {
  if (dynamic_cast<const nb::python_error*>(&error) != nullptr) throw;
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& nested) {
    rethrow_python_error(nested);
  }
}

/// Calls the library. The library reports what a kernel throws as an Error with its text, in which the exception is
/// nested; when that was raised by Python, it leaves this function itself.
template <class Work>
auto with_python_errors(const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    rethrow_python_error(error);
    throw;
  }
}

/// Calls a function of Python for the library. KeyboardInterrupt and the like, which are no errors, cancel what the
/// library does, so that it does not go on with another candidate.
template <class Call>
auto called_by_library(const Call& call) {
  try {
    return call();
  } catch (const nb::python_error& raised) {
    if (raised.matches(PyExc_Exception)) throw;
    std::throw_with_nested(Cancelled("Python was interrupted"));
  }
}

/// A job with the Python objects that it needs: the owners of the arrays' memory, and its functions. The functions of
/// `job` call these objects and do not own them, so whoever holds a copy of `job` holds the PyJob too. That way
/// Python's garbage collector sees every reference.
struct PyJob {
  Job job;
  std::vector<nb::object> held{};

  /// Holds the object, and returns it for a function of `job`.
  PyObject* hold(nb::object object) {
    held.push_back(std::move(object));
    return held.back().ptr();
  }
};

/// A node with its device.
struct PyNode {
  std::shared_ptr<MeasurableDevice> device{};  ///< null: the node is known by its profile only
  Node node{};
};

/// Slots of a type whose objects hold those of `held_of(object)`, for Python's garbage collector.
template <class T>
struct Collected {
  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    for (const nb::object& object : held_of(*nb::inst_ptr<T>(self))) Py_VISIT(object.ptr());
    return 0;
  }
  static int clear(PyObject* self) {
    const std::vector<nb::object> released = std::move(held_of(*nb::inst_ptr<T>(self)));
    return 0;
  }
  static inline PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                                       {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                                       {0, nullptr}};
};
inline std::vector<nb::object>& held_of(PyJob& job) { return job.held; }

/// Calls `work(stop)` without the GIL. `stop` lets Python handle signals; when a handler raises, as that of Ctrl-C
/// does, it returns true, and the exception leaves this function instead of Cancelled.
template <class Work>
auto interruptible(const Work& work) {
  const auto raised = std::make_shared<std::exception_ptr>();
  const std::function<bool()> stop = [raised] {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return false;
    try {
      throw nb::python_error();
    } catch (...) {
      *raised = std::current_exception();
    }
    return true;
  };
  return with_python_errors([&] {
    try {
      nb::gil_scoped_release release;
      return work(stop);
    } catch (const Cancelled&) {
      if (*raised) std::rethrow_exception(*raised);
      throw;
    }
  });
}

}  // namespace shiplap::python
