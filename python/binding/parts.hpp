// What the parts of the extension module share. The module is private: the package in python/src/shiplap gives it
// the habits of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "binding/python_end.h"
#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap::python {

namespace nb = nanobind;

/// Cancels the runs that are in flight, and waits for their ends.
void end_runs();

void bind_errors(nb::module_&);
void bind_job(nb::module_&);
void bind_node(nb::module_&);
void bind_plan(nb::module_&);
void bind_step(nb::module_&);
void bind_layers(nb::module_&);
void bind_copies(nb::module_&);
void bind_adaptive(nb::module_&);
void bind_advise(nb::module_&);

/// Whether the interpreter has begun to end in another thread. This thread may not get the GIL any more then.
bool python_ends();

/// Holds the GIL in any thread.
class GilTaken {
 public:
  GilTaken() : state_(shiplap_take_gil()) {}
  ~GilTaken() { shiplap_give_gil(state_); }
  GilTaken(const GilTaken&) = delete;
  GilTaken& operator=(const GilTaken&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Leaves the GIL to others.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased() { shiplap_restore_thread(state_); }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* state_;
};

/// Calls a function of Python. The caller holds the GIL.
template <class... Arguments>
nb::object call_python(nb::handle function, Arguments&&... arguments) {
  const nb::tuple given = nb::make_tuple(std::forward<Arguments>(arguments)...);
  PyObject* returned = shiplap_call_object(function.ptr(), given.ptr());
  if (returned == nullptr) throw nb::python_error();
  return nb::steal(returned);
}

/// An object whose destructor waits for threads that may need the GIL.
template <class T>
class WithoutGil {
 public:
  explicit WithoutGil(std::unique_ptr<T> object) : object_(std::move(object)) {}
  WithoutGil(WithoutGil&&) noexcept = default;
  WithoutGil& operator=(WithoutGil&&) = delete;
  ~WithoutGil() { close(); }
  void close() {
    if (object_ == nullptr) return;
    const GilReleased released;
    object_.reset();
  }
  bool is_closed() const { return object_ == nullptr; }
  /// Throws UsageError when the object is closed.
  T* operator->() const {
    if (object_ == nullptr) throw UsageError("this object is closed: prepare the plan again");
    return object_.get();
  }

 private:
  std::unique_ptr<T> object_;
};

/// The use of an object by one thread, while it lives. Throws UsageError for an object that is in use. The GIL guards
/// the mark, so whoever makes or destroys a use holds it.
class SingleUse {
 public:
  explicit SingleUse(bool& in_use) : in_use_(in_use) {
    if (std::exchange(in_use_, true))
      throw UsageError(
          "this object is running already, and one run at a time may use its memory: wait for its end, or make another "
          "object");
  }
  ~SingleUse() { in_use_ = false; }
  SingleUse(const SingleUse&) = delete;
  SingleUse& operator=(const SingleUse&) = delete;

 private:
  bool& in_use_;
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

/// The device of a node. Throws UsageError where there is none.
MeasurableDevice& device_of(const PyNode&);
/// The kind of host memory at an address, as the device of the node says, or any open device for a node without one.
MemoryKind kind_of(const PyNode&, const std::byte*, Bytes);

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
    if (python_ends()) return true;
    const GilTaken taken;
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
      const GilReleased released;
      return work(stop);
    } catch (const Cancelled&) {
      if (*raised) std::rethrow_exception(*raised);
      throw;
    }
  });
}

}  // namespace shiplap::python
