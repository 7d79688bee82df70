// Jobs: arrays in memory that Python objects own, and kernels that are Python functions.
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <mutex>
#include <string>
#include <tuple>

#include "binding/parts.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap::python {
namespace {

Role role_of(const std::string& name) {
  if (const auto role = value_of<Role>(name)) return *role;
  throw UsageError("role \"" + name + "\": give one of " + all_names<Role>());
}

/// Keeps Python's state of this thread from call to call, as long as the thread lives. A thread of the library would
/// get a new one for each call, and with it everything that libraries keep for a thread: current device, current
/// stream. Who waits for the end of such a thread must not hold the GIL (`WithoutGil`).
void keep_thread_state() {
  struct State {
    PyGILState_STATE before{};
    PyThreadState* saved = nullptr;

    State() {
      if (PyGILState_GetThisThreadState() != nullptr) return;
      before = shiplap_take_gil();
      saved = PyEval_SaveThread();
    }
    ~State() {
      if (saved == nullptr || python_ends()) return;
      shiplap_restore_thread(saved);
      shiplap_give_gil(before);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
  };
  static thread_local const State state;
}

/// The elements that a Python function gives for the items of a chunk.
std::function<ElementRange(ItemRange)> mapping_of(PyObject* function, std::string array) {
  return [function, array = std::move(array)](ItemRange items) {
    const GilTaken taken;
    return called_by_library([&] {
      const nb::object found = call_python(function, items.first, items.first + items.count);
      std::pair<std::uint64_t, std::uint64_t> range;
      if (!nb::try_cast(found, range))
        throw UsageError("array " + array + ": the mapping returned " + nb::cast<std::string>(nb::repr(found)) +
                         ": return the first element and the number of elements");
      return ElementRange{range.first, range.second};
    });
  };
}

/// A kernel that calls `function(first, count, blocks, stream, operands, lengths, origins)`. The last three have an
/// entry for each array: its address, the length of its part in bytes, and the offset of this part in bytes.
///
/// Several threads of the library may call it, and one after the other gets in: threads that compete for the lock of
/// the interpreter hand it over at each of its calls into C++, which takes many times as long.
KernelFunction kernel_of(PyObject* function) {
  return [function, turn = std::make_shared<std::recursive_mutex>()](const Launch& launch) {
    const std::lock_guard in_turn(*turn);
    keep_thread_state();
    const GilTaken taken;
    const auto tuple_of = [](std::size_t count, const auto& at) {
      nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
      if (!tuple.is_valid()) throw nb::python_error();
      for (std::size_t i = 0; i < count; ++i)
        if (PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), nb::int_(at(i)).release().ptr()) != 0)
          throw nb::python_error();
      return tuple;
    };
    const std::size_t n = launch.operands.size();
    called_by_library([&] {
      call_python(function, launch.first_item, launch.items, launch.blocks,
                  reinterpret_cast<std::uintptr_t>(launch.stream),
                  tuple_of(n, [&](std::size_t i) { return reinterpret_cast<std::uintptr_t>(launch.operands[i]); }),
                  tuple_of(n, [&](std::size_t i) { return launch.lengths[i].count; }),
                  tuple_of(n, [&](std::size_t i) { return launch.origins.empty() ? 0 : launch.origins[i].count; }));
    });
  };
}

void add(PyJob& self, std::string name, const std::string& role, std::uintptr_t address, std::uint64_t size,
         std::uint64_t element, std::uint64_t before, std::uint64_t after, nb::object mapping, nb::object owner,
         const std::string& memory) {
  Array array{.name = std::move(name),
              .role = role_of(role),
              .size = Bytes{size},
              .element = Bytes{element},
              .memory = memory == "device" ? MemoryKind::device : parse_array_memory(memory),
              .reach = {.before = before, .after = after, .elements = {}},
              .data = reinterpret_cast<std::byte*>(address)};
  if (!mapping.is_none()) array.reach.elements = mapping_of(self.hold(std::move(mapping)), array.name);
  self.job = detail::with_array(Job(self.job), std::move(array));
  self.hold(std::move(owner));
}

/// Makes the last array blocks of a pool: `address` of the indices is 0 for blocks at equal distances.
void make_blocks(PyJob& self, std::uintptr_t indices, std::uint64_t count, std::uint32_t width, bool is_signed,
                 std::uint64_t block, std::uint64_t pitch, nb::object owner) {
  Array& array = self.job.arrays.back();
  array.blocks = Blocks{.indices = {.data = reinterpret_cast<const void*>(indices),
                                    .count = indices == 0 ? 0 : count,
                                    .width = width,
                                    .is_signed = is_signed},
                        .count = count,
                        .block = Bytes{block},
                        .pitch = Bytes{pitch},
                        .elements = 0,
                        .pool = array.size};
  array.size = Bytes{block * count};
  self.hold(std::move(owner));
}

void kernel_time(PyJob& self, double seconds) {
  self.job.cost = {
      .points = {{self.job.items, Interval<Seconds>::exact(Seconds{seconds})}}, .limited = {}, .origin = "stated"};
}

}  // namespace

void bind_job(nb::module_& m) {
  nb::class_<PyJob>(m, "Job", nb::type_slots(Collected<PyJob>::slots))
      .def("__init__", [](PyJob* self, std::uint64_t items,
                          std::string name) { new (self) PyJob{.job = Job{.items = items, .name = std::move(name)}}; })
      .def("copy", [](const PyJob& self) { return self; })
      .def("add", &add, nb::arg("name"), nb::arg("role"), nb::arg("address"), nb::arg("size"), nb::arg("element"),
           nb::arg("before"), nb::arg("after"), nb::arg("mapping").none(), nb::arg("owner").none(), nb::arg("memory"))
      .def("make_blocks", &make_blocks, nb::arg("indices"), nb::arg("count"), nb::arg("width"), nb::arg("is_signed"),
           nb::arg("block"), nb::arg("pitch"), nb::arg("owner").none())
      .def("set_kernel", [](PyJob& self, nb::object f) { self.job.binding.cuda = kernel_of(self.hold(std::move(f))); })
      .def("set_host_kernel",
           [](PyJob& self, nb::object f) { self.job.binding.host = kernel_of(self.hold(std::move(f))); })
      .def("kernel_time", &kernel_time, nb::arg("seconds"))
      .def_prop_ro("items", [](const PyJob& self) { return self.job.items; })
      .def_prop_ro("name", [](const PyJob& self) { return self.job.name; })
      .def_prop_rw(
          "flops", [](const PyJob& self) { return self.job.flops; },
          [](PyJob& self, double flops) { self.job.flops = flops; })
      .def_prop_rw(
          "double_precision", [](const PyJob& self) { return self.job.double_precision; },
          [](PyJob& self, bool is_double) { self.job.double_precision = is_double; })
      .def_prop_rw(
          "device_traffic", [](const PyJob& self) { return self.job.device_traffic.count; },
          [](PyJob& self, std::uint64_t bytes) { self.job.device_traffic = Bytes{bytes}; })
      .def_prop_rw(
          "efficiency", [](const PyJob& self) { return self.job.efficiency; },
          [](PyJob& self, double efficiency) { self.job.efficiency = efficiency; })
      .def("keep", [](PyJob& self) { self.job.arrays.back().kept = true; })
      .def("reads", [](PyJob& self, const std::string& array,
                       double times) { self.job = detail::with_reads(std::move(self.job), array, times); })
      .def_prop_rw(
          "each_byte_once", [](const PyJob& self) { return self.job.each_byte_once; },
          [](PyJob& self, std::optional<bool> once) { self.job.each_byte_once = once; }, nb::arg("value").none())
      .def_prop_rw(
          "capturable", [](const PyJob& self) { return self.job.capturable; },
          [](PyJob& self, bool capturable) { self.job.capturable = capturable; })
      .def_prop_rw(
          "waits", [](const PyJob& self) { return self.job.waits; },
          [](PyJob& self, bool waits) { self.job.waits = waits; })
      .def_prop_ro("blocks",
                   [](const PyJob& self) {
                     return std::make_tuple(self.job.items_per_block, self.job.threads_per_block,
                                            self.job.blocks_per_item_group, self.job.any_grid);
                   })
      .def("with_blocks", [](PyJob& self, std::uint64_t items, unsigned threads, std::uint64_t sharing, bool any_grid) {
        self.job.items_per_block = items;
        self.job.threads_per_block = threads;
        self.job.blocks_per_item_group = sharing;
        self.job.any_grid = any_grid;
      });
}

}  // namespace shiplap::python
