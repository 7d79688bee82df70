#include "shiplap/device/cuda/host_memory.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/check.hpp"

namespace shiplap {
namespace {

constexpr std::size_t page = 4096;

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

[[noreturn]] void fail(const char* call) {
  throw Error(
      fmt::format("cannot place memory on a NUMA node: {} failed: {}", call, std::generic_category().message(errno)));
}

hwloc_topology_t topology() {
  static const Topology loaded = [] {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) fail("hwloc_topology_init");
    Topology result(raw);
    if (hwloc_topology_load(raw) != 0) fail("hwloc_topology_load");
    return result;
  }();
  return loaded.get();
}

/// While it lives, memory that this thread asks the system for comes from one NUMA node. Does nothing on a host that
/// has only one.
class OnNode {
 public:
  explicit OnNode(std::uint16_t number) {
    const int nodes = hwloc_get_nbobjs_by_type(topology(), HWLOC_OBJ_NUMANODE);
    const hwloc_obj_t node = hwloc_get_numanode_obj_by_os_index(topology(), number);
    if (node == nullptr && !(nodes <= 1 && number == 0))
      throw Error(fmt::format("there is no NUMA node {} on this host, which has {}", number, nodes));
    if (nodes <= 1) return;
    before_.reset(hwloc_bitmap_alloc());
    if (before_ == nullptr) fail("hwloc_bitmap_alloc");
    if (hwloc_get_membind(topology(), before_.get(), &policy_, flags) != 0) fail("hwloc_get_membind");
    if (hwloc_set_membind(topology(), node->nodeset, HWLOC_MEMBIND_BIND, flags) != 0) fail("hwloc_set_membind");
    bound_ = true;
  }
  ~OnNode() {
    if (bound_) hwloc_set_membind(topology(), before_.get(), policy_, flags);
  }
  OnNode(const OnNode&) = delete;
  OnNode& operator=(const OnNode&) = delete;

 private:
  static constexpr int flags = HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET;
  Bitmap before_;
  hwloc_membind_policy_t policy_ = HWLOC_MEMBIND_DEFAULT;
  bool bound_ = false;
};

/// What can be had without swapping, by the kernel's own estimate; nullopt where it does not say.
std::optional<Bytes> available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::uint64_t kibibytes = 0;
  std::string unit;
  while (file >> key >> kibibytes >> unit)
    if (key == "MemAvailable:") return Bytes{kibibytes * 1024};
  return std::nullopt;
}

std::string shown(std::optional<Bytes> available) {
  return available ? to_string(*available) : std::string("an unknown amount");
}

void touch(std::byte* data, Bytes size) {
  for (std::uint64_t at = 0; at < size.count; at += page) data[at] = std::byte{0};
}

Memory allocate_pageable(Place place, Bytes size) {
  const std::size_t whole_pages = (size.count + page - 1) / page * page;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(page, whole_pages));
  if (data == nullptr)
    throw Error(fmt::format("the system refused {} of pageable host memory; {} are available: use smaller arrays",
                            to_string(size), shown(available_memory())));
  return {data, size, place, MemoryKind::pageable, [](std::byte* p) { std::free(p); }};
}

Memory allocate_pinned(const Api& api, Place place, MemoryKind kind, Bytes size) {
  void* data = nullptr;
  const unsigned flags = kind == MemoryKind::mapped ? cudaHostAllocMapped : cudaHostAllocDefault;
  const cudaError_t error = api.host_alloc(&data, size.count, flags);
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(api.get_last_error());
    throw Error(
        fmt::format("cudaHostAlloc failed ({} of {} memory): {}; {} of host memory are available: use smaller "
                    "arrays, or raise the limit of the container or of `ulimit -l`",
                    to_string(size), to_string(kind), error_text(api, error), shown(available_memory())));
  }
  check(api, error, "cudaHostAlloc", fmt::format("{} of {} memory", to_string(size), to_string(kind)));
  return {static_cast<std::byte*>(data), size, place, kind, [&api](std::byte* p) {
            if (api.free_host(p) != cudaSuccess) static_cast<void>(api.get_last_error());
          }};
}

}  // namespace

Memory allocate_host_memory(const Api& api, Place place, MemoryKind kind, Bytes size) {
  if (kind != MemoryKind::pageable && kind != MemoryKind::pinned && kind != MemoryKind::mapped)
    throw Unsupported(
        fmt::format("{} memory on {} is not something that the CUDA device offers yet: ask for pageable, "
                    "pinned or mapped memory",
                    to_string(kind), to_string(place)));
  if (size.count == 0) return {nullptr, size, place, kind, [](std::byte*) {}};
  // Asking is cheap; a process that takes more than there is gets killed without a message.
  if (const auto available = available_memory(); available && size > *available)
    throw Error(fmt::format("{} of {} host memory are wanted and {} are available: use smaller arrays", to_string(size),
                            to_string(kind), to_string(*available)));
  const OnNode node(place.index);
  Memory memory =
      kind == MemoryKind::pageable ? allocate_pageable(place, size) : allocate_pinned(api, place, kind, size);
  touch(memory.data(), size);
  return memory;
}

}  // namespace shiplap
