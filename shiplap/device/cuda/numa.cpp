#include "shiplap/device/cuda/numa.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>
#include <type_traits>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

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

// Never destroyed: threads may ask while the process ends.
hwloc_topology_t topology() {
  static const hwloc_topology_t loaded = [] {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) fail("hwloc_topology_init");
    Topology owned(raw);
    if (hwloc_topology_load(raw) != 0) fail("hwloc_topology_load");
    return owned.release();
  }();
  return loaded;
}

/// The node with this number. Throws Error when the host has none, or the process may not use it.
hwloc_obj_t numa_node(std::uint16_t number) {
  const hwloc_obj_t node = hwloc_get_numanode_obj_by_os_index(topology(), number);
  if (node == nullptr)
    throw Error(fmt::format("this process can use no NUMA node {}: it can use {} of this host", number,
                            fmt::join(numa_nodes_of_host(), ", ")));
  return node;
}

}  // namespace

bool has_several_numa_nodes() { return hwloc_get_nbobjs_by_type(topology(), HWLOC_OBJ_NUMANODE) > 1; }

std::optional<std::uint16_t> numa_node_of_thread() {
  const Bitmap core(hwloc_bitmap_alloc());
  if (core == nullptr || hwloc_get_last_cpu_location(topology(), core.get(), HWLOC_CPUBIND_THREAD) != 0)
    return std::nullopt;
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology(), HWLOC_OBJ_NUMANODE, node)) != nullptr;)
    if (hwloc_bitmap_intersects(node->cpuset, core.get()) != 0) return static_cast<std::uint16_t>(node->os_index);
  return std::nullopt;
}

// By system calls, because hwloc gives a binding and a preference one name and would set the one for the other.
struct OnNode::Policy {
  bool get() { return syscall(SYS_get_mempolicy, &mode, nodes.data(), most_nodes, nullptr, 0UL) == 0; }
  void set() const { static_cast<void>(syscall(SYS_set_mempolicy, mode, nodes.data(), most_nodes)); }

  static constexpr unsigned long most_nodes = 4096;  // a system asks for room for all nodes that it could have
  int mode = 0;
  std::array<unsigned long, most_nodes / std::numeric_limits<unsigned long>::digits> nodes{};
};

OnNode::OnNode(std::uint16_t number) {
  const hwloc_obj_t node = numa_node(number);
  if (!has_several_numa_nodes()) return;
  auto before = std::make_unique<Policy>();
  if (before->get() && hwloc_set_membind(topology(), node->nodeset, HWLOC_MEMBIND_BIND,
                                         HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET) == 0)
    before_ = std::move(before);
  else
    touching_.emplace(number);
}

OnNode::~OnNode() {
  if (before_ != nullptr) before_->set();
}

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

}  // namespace shiplap
