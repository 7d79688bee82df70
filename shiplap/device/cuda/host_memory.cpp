#include "shiplap/device/cuda/host_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>

#include "shiplap/core/error.hpp"
#include "shiplap/core/host_limits.hpp"
#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/host_agents.hpp"
#include "shiplap/device/host_work.hpp"

namespace shiplap {
namespace {

constexpr std::size_t huge_page = 2 << 20;  // bytes in a huge page on x86-64 and on 64-bit Arm with pages of 4 KiB

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

[[noreturn]] void fail(const char* call) {
  throw Error(fmt::format("cannot ask what this host consists of: {} failed: {}", call,
                          std::generic_category().message(errno)));
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

/// The node with this number. Throws Error when the host has none, or the process may not use it.
hwloc_obj_t numa_node(std::uint16_t number) {
  const hwloc_obj_t node = hwloc_get_numanode_obj_by_os_index(topology(), number);
  if (node == nullptr)
    throw Error(fmt::format("this process can use no NUMA node {}: it can use {} of this host", number,
                            fmt::join(numa_nodes_of_host(), ", ")));
  return node;
}

bool has_several_nodes() { return hwloc_get_nbobjs_by_type(topology(), HWLOC_OBJ_NUMANODE) > 1; }

/// Allocations of its thread are placed on one NUMA node until it is destroyed, as far as the system allows. Where it
/// forbids memory policies, as containers do, the thread runs on the cores of the node meanwhile: memory is placed
/// where it is first touched. On a host with a single node there is nothing to do.
class OnNode {
 public:
  explicit OnNode(std::uint16_t number) {
    const hwloc_obj_t node = numa_node(number);
    if (!has_several_nodes()) return;
    before_.reset(hwloc_bitmap_alloc());
    if (before_ != nullptr && hwloc_get_membind(topology(), before_.get(), &policy_, flags) == 0 &&
        hwloc_set_membind(topology(), node->nodeset, HWLOC_MEMBIND_BIND, flags) == 0)
      bound_ = true;
    else
      touching_.emplace(number);
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
  std::optional<OnCoresOf> touching_;
};

std::string shown(const std::optional<HostMemory>& available) {
  return available ? to_string(*available) : std::string("an unknown amount");
}

void write_each_page(std::span<std::byte> memory) {
  for (std::size_t at = 0; at < memory.size(); at += page_size()) memory[at] = std::byte{0};
}

/// The number of threads that make the pages of new memory.
std::size_t threads_for_pages(Place place, Bytes size) {
  constexpr std::size_t most_threads = 16;
  constexpr Bytes least_of_a_thread = 8_MiB;
  // Pages of no particular node are to be where the calling thread runs.
  if (place == Place::host() && has_several_nodes()) return 1;
  return std::clamp<std::size_t>(size.count / least_of_a_thread.count, 1,
                                 std::min<std::size_t>(most_threads, usable_cpus()));
}

/// Makes the pages of new memory on its node. The system clears a page when it is first written, which takes most of
/// the time of an allocation, and several threads clear more in the same time. The calling thread is bound already.
void make_pages(Place place, std::byte* data, Bytes size) {
  const std::size_t threads = threads_for_pages(place, size);
  const std::size_t share = size.count / threads / huge_page * huge_page;
  const auto part = [&](std::size_t thread) {
    const std::size_t begin = thread * share;
    return std::span(data + begin, thread + 1 == threads ? size.count - begin : share);
  };
  const bool is_placed = place != Place::host();
  std::optional<HostAgents> agents;
  try {
    agents.emplace(threads, [&](std::size_t) {
      if (is_placed) keep_to_cores_of(place.index);
    });
  } catch (const Error&) {  // the system has no more threads for this process
    return write_each_page({data, size.count});
  }
  agents->run([&](std::size_t thread) {
    std::optional<OnNode> node;
    if (is_placed && thread > 0) node.emplace(place.index);
    write_each_page(part(thread));
  });
}

[[noreturn]] void throw_short(Bytes size, const char* kind) {
  throw Error(fmt::format("the system refused {} of {} host memory; {} are available: use smaller arrays",
                          to_string(size), kind, shown(available_host_memory())));
}

Memory allocate_pageable(Place place, Bytes size) {
  const std::size_t whole_pages = (size.count + page_size() - 1) / page_size() * page_size();
  auto* data = static_cast<std::byte*>(std::aligned_alloc(page_size(), whole_pages));
  if (data == nullptr) throw_short(size, "pageable");
  Memory memory(data, size, place, MemoryKind::pageable, [](std::byte* p) { std::free(p); });
  make_pages(place, data, size);
  return memory;
}

/// An anonymous memory mapping, in pages of 2 MiB where the system provides them. Physical pages of 4 KiB become
/// scattered as a node is used, and then copies that run concurrently with kernels that write host memory are slower.
class Mapping {
 public:
  explicit Mapping(Bytes size) : length_((size.count + huge_page - 1) / huge_page * huge_page) {
    const std::size_t reserved = length_ + huge_page;
    void* start = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) throw_short(size, "pinned");
    auto* first = static_cast<std::byte*>(start);
    const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(first) % huge_page) % huge_page;
    if (before > 0) munmap(first, before);
    munmap(first + before + length_, huge_page - before);
    data_ = first + before;
    // A failure is ignored: it means that the system has no huge pages, and the condition `host.huge_pages` records
    // that.
    static_cast<void>(madvise(data_, length_, MADV_HUGEPAGE));
  }
  ~Mapping() { munmap(data_, length_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t length_;
};

Memory allocate_pinned(const Api& api, Place place, MemoryKind kind, Bytes size) {
  const auto mapping = std::make_shared<Mapping>(size);
  std::byte* data = mapping->data();
  make_pages(place, data, size);
  const std::string what = fmt::format("{} of {} memory", to_string(size), to_string(kind));
  check(api, api.host_register(data, size.count, cudaHostRegisterPortable | cudaHostRegisterMapped), "cudaHostRegister",
        what);
  Memory memory(data, size, place, kind,
                [unregister = Release<&Api::host_unregister>(api), mapping](std::byte* p) { unregister(p); });
  // Kernels use the host address, so both addresses must be equal.
  void* on_device = nullptr;
  check(api, api.host_get_device_pointer(&on_device, data, 0), "cudaHostGetDevicePointer", what);
  if (on_device != data)
    throw Unsupported("this GPU does not address registered host memory as the host does, which shiplap relies on");
  return memory;
}

/// Allocates with cudaHostAlloc, whose pages of 4 KiB are what most programs have.
Memory allocate_by_driver(const Api& api, Place place, MemoryKind kind, Bytes size) {
  const unsigned flags = cudaHostAllocPortable | cudaHostAllocMapped |
                         (kind == MemoryKind::write_combined ? cudaHostAllocWriteCombined : 0u);
  void* data = nullptr;
  check(api, api.host_alloc(&data, size.count, flags), "cudaHostAlloc",
        fmt::format("{} of {} memory", to_string(size), to_string(kind)));
  return {static_cast<std::byte*>(data), size, place, kind, Release<&Api::free_host>(api)};
}

}  // namespace

void keep_to_cores_of(std::uint16_t number) {
  const hwloc_obj_t node = numa_node(number);
  const Bitmap cores(hwloc_bitmap_alloc());
  if (cores == nullptr || hwloc_get_cpubind(topology(), cores.get(), HWLOC_CPUBIND_THREAD) != 0) return;
  hwloc_bitmap_and(cores.get(), cores.get(), node->cpuset);
  if (hwloc_bitmap_iszero(cores.get()) == 0)
    static_cast<void>(hwloc_set_cpubind(topology(), cores.get(), HWLOC_CPUBIND_THREAD));
}

OnCoresOf::OnCoresOf(std::uint16_t number) : before_(hwloc_bitmap_alloc(), hwloc_bitmap_free) {
  if (before_ != nullptr && hwloc_get_cpubind(topology(), before_.get(), HWLOC_CPUBIND_THREAD) != 0) before_.reset();
  if (before_ != nullptr) keep_to_cores_of(number);
}

OnCoresOf::~OnCoresOf() {
  if (before_ != nullptr) hwloc_set_cpubind(topology(), before_.get(), HWLOC_CPUBIND_THREAD);
}

std::vector<std::uint16_t> numa_nodes_of_host(std::uint16_t nearest) {
  const Bitmap own(hwloc_bitmap_alloc());
  const bool is_known = own != nullptr && hwloc_get_cpubind(topology(), own.get(), HWLOC_CPUBIND_PROCESS) == 0;
  std::vector<std::uint16_t> numbers;
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology(), HWLOC_OBJ_NUMANODE, node)) != nullptr;)
    if (is_known ? hwloc_bitmap_intersects(node->cpuset, own.get()) != 0 : hwloc_bitmap_iszero(node->cpuset) == 0)
      numbers.push_back(static_cast<std::uint16_t>(node->os_index));
  std::stable_partition(numbers.begin(), numbers.end(), [&](std::uint16_t number) { return number == nearest; });
  return numbers;
}

std::optional<std::vector<unsigned>> numa_nodes_of(std::span<const std::byte> memory) {
  const Bitmap nodes(hwloc_bitmap_alloc());
  if (nodes == nullptr || memory.empty()) return std::nullopt;
  if (hwloc_get_area_memlocation(topology(), memory.data(), memory.size(), nodes.get(), HWLOC_MEMBIND_BYNODESET) != 0)
    return std::nullopt;
  std::vector<unsigned> found;
  for (int node = hwloc_bitmap_first(nodes.get()); node >= 0; node = hwloc_bitmap_next(nodes.get(), node))
    found.push_back(static_cast<unsigned>(node));
  if (found.empty()) return std::nullopt;
  return found;
}

Memory allocate_host_memory(const Api& api, Place place, MemoryKind kind, Bytes size) {
  if (kind == MemoryKind::device || kind == MemoryKind::managed)
    throw Unsupported(fmt::format("{} memory is not the host's alone", to_string(kind)));
  if (size.count == 0) return {nullptr, size, place, kind, [](std::byte*) {}};
  // Without this check the system would kill the process without a message.
  if (const auto available = available_host_memory(); available && size > available->size)
    throw Error(fmt::format("{} of {} host memory are needed and {} are available: use smaller arrays", to_string(size),
                            to_string(kind), to_string(*available)));
  std::optional<OnNode> node;
  if (place != Place::host()) node.emplace(place.index);
  if (kind == MemoryKind::pageable) return allocate_pageable(place, size);
  if (kind == MemoryKind::driver_pinned || kind == MemoryKind::write_combined)
    return allocate_by_driver(api, place, kind, size);
  return allocate_pinned(api, place, kind, size);
}

}  // namespace shiplap
