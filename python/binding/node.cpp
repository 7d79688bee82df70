// Devices, profiles and nodes, host memory, and the movers of scattered blocks.
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "binding/parts.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/device/memory.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/move.hpp"
#include "shiplap/pipeline/profile_cache.hpp"
#include "shiplap/plan/mover_table.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/profile/what_if.hpp"
#include "shiplap/report/movers_report.hpp"
#include "shiplap/report/movers_svg.hpp"
#include "shiplap/report/profile_report.hpp"

namespace shiplap::python {
namespace {

/// The devices that are open in this process, which know the memory that is pinned.
class OpenDevices {
 public:
  std::shared_ptr<MeasurableDevice> add(std::shared_ptr<MeasurableDevice> device) {
    const std::lock_guard lock(mutex_);
    std::erase_if(devices_, [](const auto& known) { return known.expired(); });
    devices_.push_back(device);
    return device;
  }
  MemoryKind kind_of(const std::byte* data, Bytes size) const {
    const std::lock_guard lock(mutex_);
    for (const auto& known : devices_)
      if (const auto device = known.lock())
        if (const MemoryKind kind = device->kind_of(data, size); kind != MemoryKind::pageable) return kind;
    return MemoryKind::pageable;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<MeasurableDevice>> devices_;
};
OpenDevices open_devices;

PyNode load_or_measure(const std::string& device, nb::object say, bool may_assume) {
  return with_python_errors([&] {
    const GilReleased released;
    PyNode node{.device = open_devices.add(open(device.empty() ? default_device() : device))};
    const auto load = may_assume ? shiplap::load_or_assume : shiplap::load_or_measure;
    node.node = load(*node.device, [&](std::string_view line) {
      const GilTaken taken;
      called_by_library([&] { call_python(say, std::string(line)); });
    });
    return node;
  });
}

PyNode with_profile(const std::string& device, const std::string& profile) {
  const GilReleased released;
  PyNode node{.device = open_devices.add(open(device))};
  node.node = node_of(*node.device, find_profile(profile));
  return node;
}

PyNode from_profile(const std::string& name_or_path) {
  const GilReleased released;
  return {.node = node_of(find_profile(name_or_path))};
}

PyNode what_if_of(const PyNode& self, const std::string& what) {
  return {.node = node_of(what_if(*self.node.profile, what))};
}

PyNode with_link_of(const PyNode& self, const std::string& what) {
  return {.node = node_of(with_link(*self.node.profile, what))};
}

PyNode simulated(const PyNode& self) {
  PyNode node{.device = open_devices.add(open_virtual(*self.node.profile, "virtual:" + self.node.profile->name))};
  node.node = node_of(*node.device, *self.node.profile);
  return node;
}

std::vector<std::pair<std::string, std::string>> devices() {
  std::vector<std::pair<std::string, std::string>> found;
  const DeviceListing listing = list_devices();
  for (const DeviceInfo& info : listing.devices) found.emplace_back(info.id, info.name);
  for (const std::string& absent : listing.absent) found.emplace_back("", absent);
  return found;
}

Memory pinned(const PyNode& self, std::uint64_t size) {
  return device_of(self).allocate(Place::host(), MemoryKind::pinned, Bytes{size});
}

void make_pages(const PyNode& self, std::uintptr_t address, std::uint64_t size) {
  device_of(self).make_pages({reinterpret_cast<std::byte*>(address), size});
}

MoverTable movers(const PyNode& self, std::vector<std::uint64_t> counts, const std::string& pool, bool regular,
                  std::optional<double> max_slowdown, std::optional<double> memory_bound,
                  std::optional<double> thread_block) {
  MoverQuestion question{
      .pool = parse_array_memory(pool), .regular = regular, .counts = std::move(counts), .crossover_counts = {}};
  question.limits.max_slowdown = max_slowdown;
  if (memory_bound || thread_block) {
    Neighbour& neighbour = question.limits.neighbour.emplace();
    neighbour.memory_bound = memory_bound.value_or(neighbour.memory_bound);
    if (thread_block) neighbour.thread_block = Seconds{*thread_block};
  }
  const GilReleased released;
  return mover_table(*self.node.profile, question);
}

std::string move_blocks(const PyNode& node, std::uintptr_t pool, std::uint64_t size, std::uint64_t block,
                        std::uintptr_t index, std::size_t count, std::uintptr_t packed, std::uintptr_t stream,
                        bool back, std::optional<double> max_slowdown) {
  device_of(node);
  const PoolBytes blocks{
      .data = reinterpret_cast<std::byte*>(pool), .size = Bytes{size}, .block = Bytes{block}, .pitch = Bytes{block}};
  const std::span list(reinterpret_cast<const std::uint32_t*>(index), count);
  auto* at = reinterpret_cast<std::byte*>(packed);
  auto* in = reinterpret_cast<void*>(stream);
  const MoverLimits limits{.max_slowdown = max_slowdown};
  const GilReleased released;
  return to_string(back ? move_bytes_back(node.node, blocks, list, at, in, limits)
                        : move_bytes(node.node, blocks, list, at, in, limits));
}

/// Rates of large copies by the profile, in bytes per second: from pinned memory to the GPU and back, and from pageable
/// memory to the GPU and back; 0 where they are unknown.
std::array<double, 4> copy_rates(const PyNode& self) {
  if (self.node.profile->links.empty()) return {};
  const LinkModel& link = self.node.profile->links.front();
  const auto rate = [](const std::vector<TimeAt>& rows) {
    return rows.empty() ? 0.0 : static_cast<double>(rows.back().size.count) / rows.back().time.value.count();
  };
  return {1 / link.h2d.per_byte.value.seconds, 1 / link.d2h.per_byte.value.seconds,
          link.pageable ? rate(link.pageable->h2d) : 0.0, link.pageable ? rate(link.pageable->d2h) : 0.0};
}

struct SharedMemory {
  std::shared_ptr<const void> memory;
};
SharedMemory share(std::uintptr_t address) {
  return {share_virtual_memory(reinterpret_cast<const std::byte*>(address))};
}

/// Memory of a GPU as a capsule of DLPack. `code` and `bits` are those of DLPack for the type of the elements.
nb::object exported(std::uintptr_t address, const std::vector<std::size_t>& shape, std::uint8_t code, std::uint8_t bits,
                    int gpu, nb::object owner) {
  return nb::cast(nb::ndarray<>(reinterpret_cast<void*>(address), shape.size(), shape.data(), std::move(owner), nullptr,
                                nb::dlpack::dtype{code, bits, 1}, nb::device::cuda::value, gpu));
}

}  // namespace

MeasurableDevice& device_of(const PyNode& self) {
  if (self.device == nullptr)
    throw UsageError(
        "the node is without a device, so it has no memory and nothing can run: open the node with "
        "Node.load_or_measure, or simulate it with Node.simulated");
  return *self.device;
}

MemoryKind kind_of(const PyNode& self, const std::byte* data, Bytes size) {
  return self.device == nullptr ? open_devices.kind_of(data, size) : self.device->kind_of(data, size);
}

void bind_node(nb::module_& m) {
  nb::class_<Memory>(m, "Memory")
      .def_prop_ro("address", [](const Memory& self) { return reinterpret_cast<std::uintptr_t>(self.data()); })
      .def_prop_ro("size", [](const Memory& self) { return self.size().count; });
  nb::class_<SharedMemory>(m, "SharedMemory");
  m.def("share", &share, nb::arg("address"));
  nb::class_<MoverTable>(m, "MoverTable")
      .def("to_json", [](const MoverTable& self) { return json_text(to_json(self)); })
      .def("text", [](const MoverTable& self) { return movers_report(self, {}); })
      .def("svg", [](const MoverTable& self, std::uint64_t blocks) { return movers_svg(self, blocks); });
  nb::class_<PyNode>(m, "Node")
      .def_static("load_or_measure", &load_or_measure, nb::arg("device"), nb::arg("say"), nb::arg("may_assume"))
      .def_static("with_profile", &with_profile, nb::arg("device"), nb::arg("profile"))
      .def_static("from_profile", &from_profile, nb::arg("name_or_path"))
      .def("simulated", &simulated)
      .def("what_if", &what_if_of, nb::arg("what"))
      .def("with_link", &with_link_of, nb::arg("what"))
      .def("pinned", &pinned, nb::arg("size"), nb::call_guard<GilReleased>())
      .def("make_pages", &make_pages, nb::arg("address"), nb::arg("size"), nb::call_guard<GilReleased>())
      .def(
          "kind_of",
          [](const PyNode& self, std::uintptr_t address, std::uint64_t size) {
            return std::string(to_string(kind_of(self, reinterpret_cast<const std::byte*>(address), Bytes{size})));
          },
          nb::arg("address"), nb::arg("size"))
      .def("movers", &movers, nb::arg("counts"), nb::arg("pool"), nb::arg("regular"), nb::arg("max_slowdown").none(),
           nb::arg("memory_bound").none(), nb::arg("thread_block").none())
      .def_prop_ro("device", [](const PyNode& self) { return self.device ? self.device->info().id : std::string(); })
      .def_prop_ro("has_gpu", [](const PyNode& self) { return self.node.has_gpu(); })
      .def_prop_ro("profile_name", [](const PyNode& self) { return self.node.profile->name; })
      .def_prop_ro("profile_hash", [](const PyNode& self) { return parameter_hash(*self.node.profile); })
      .def_prop_ro("profile_origin",
                   [](const PyNode& self) { return std::string(to_string(self.node.profile->origin)); })
      .def("copy_rates", &copy_rates)
      .def("profile_json", [](const PyNode& self) { return json_text(to_json(*self.node.profile)); })
      .def("profile_text", [](const PyNode& self) { return profile_report(*self.node.profile, {}, {}); })
      .def("save_profile", [](const PyNode& self, const std::string& path) { save_profile(*self.node.profile, path); });
  m.def("move_blocks", &move_blocks, nb::arg("node"), nb::arg("pool"), nb::arg("size"), nb::arg("block"),
        nb::arg("index"), nb::arg("count"), nb::arg("packed"), nb::arg("stream"), nb::arg("back"),
        nb::arg("max_slowdown").none());
  m.def("exported", &exported, nb::arg("address"), nb::arg("shape"), nb::arg("code"), nb::arg("bits"), nb::arg("gpu"),
        nb::arg("owner").none());
  m.def("devices", &devices, nb::call_guard<GilReleased>());
  m.def("built_in_profiles", &built_in_profiles);
}

}  // namespace shiplap::python
