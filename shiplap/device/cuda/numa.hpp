// NUMA nodes of this host: where memory is placed, and on which cores a thread runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "shiplap/schedule/place.hpp"

struct hwloc_bitmap_s;

namespace shiplap {

/// Binds the calling thread to those of its cores that are on a NUMA node. The thread stays as it is where there are
/// none or the system refuses. Throws Error for a node that the process cannot use.
void keep_to_cores_of(std::uint16_t numa_node);
/// Binds its thread as keep_to_cores_of does until it is destroyed.
class OnCoresOf {
 public:
  explicit OnCoresOf(std::uint16_t numa_node);
  ~OnCoresOf();
  OnCoresOf(const OnCoresOf&) = delete;
  OnCoresOf& operator=(const OnCoresOf&) = delete;

 private:
  std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_s*)> before_;
};

/// Allocations of its thread are placed on one NUMA node until it is destroyed, as far as the system allows. Where it
/// forbids memory policies, as containers do, the thread runs on the cores of the node meanwhile: memory is placed
/// where it is first touched. On a host with a single node there is nothing to do. Throws Error for a node that the
/// process cannot use.
class OnNode {
 public:
  explicit OnNode(std::uint16_t numa_node);
  ~OnNode();
  OnNode(const OnNode&) = delete;
  OnNode& operator=(const OnNode&) = delete;

 private:
  struct Policy;
  std::unique_ptr<Policy> before_;
  std::optional<OnCoresOf> touching_;
};

/// Whether this host has more than one NUMA node.
bool has_several_numa_nodes();
/// The NUMA node on which the calling thread runs; nullopt where the system does not say.
std::optional<std::uint16_t> numa_node_of_thread();

/// NUMA nodes of this host with cores that this process may use, `nearest` before the others.
std::vector<std::uint16_t> numa_nodes_of_host(std::uint16_t nearest = any_numa_node);

/// NUMA nodes that hold pages of the memory, in increasing order; nullopt where the system does not say.
std::optional<std::vector<unsigned>> numa_nodes_of(std::span<const std::byte> memory);

}  // namespace shiplap
