#include "shiplap/device/cuda/host_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "shiplap/core/error.hpp"
#include "shiplap/core/host_limits.hpp"
#include "shiplap/device/cuda/numa.hpp"
#include "shiplap/device/host_agents.hpp"
#include "shiplap/device/host_work.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // since Linux 5.14
#endif

namespace shiplap {
namespace {

std::byte* rounded_down(std::byte* at, std::size_t to) { return at - reinterpret_cast<std::uintptr_t>(at) % to; }

/// Whether the system has made the pages. It refuses for memory that cannot be written, and before Linux 5.14.
bool populate(std::span<std::byte> memory) {
  std::byte* const first = rounded_down(memory.data(), page_size());
  return madvise(first, static_cast<std::size_t>(memory.data() + memory.size() - first), MADV_POPULATE_WRITE) == 0;
}

std::size_t threads_for_pages(std::size_t size) {
  constexpr std::size_t most_threads = 16;
  constexpr std::size_t least_of_a_thread = 8 << 20;
  return std::clamp<std::size_t>(size / least_of_a_thread, 1, std::min<std::size_t>(most_threads, usable_cpus()));
}

bool lacks_pages(std::span<std::byte> memory) {
  constexpr std::size_t looked_at = 32;
  for (std::size_t i = 0; i < looked_at; ++i) {
    unsigned char present = 1;
    std::byte* const at = rounded_down(&memory[(memory.size() - 1) / (looked_at - 1) * i], page_size());
    if (mincore(at, page_size(), &present) == 0 && (present & 1) == 0) return true;
  }
  return false;
}

/// Calls `work` with parts of the memory, in several threads on the node `place` or where the calling thread runs.
template <class Work>
void in_parts(Place place, std::span<std::byte> memory, const Work& work) {
  std::optional<std::uint16_t> node;
  if (place != Place::host())
    node = place.index;
  else if (has_several_numa_nodes())
    node = numa_node_of_thread();
  const bool is_known = node || !has_several_numa_nodes();
  const std::size_t threads = is_known ? threads_for_pages(memory.size()) : 1;
  const std::size_t share = memory.size() / threads / huge_page * huge_page;
  std::optional<HostAgents> agents;
  try {
    agents.emplace(threads, [&](std::size_t) {
      if (node) keep_to_cores_of(*node);
    });
  } catch (const Error&) {  // the system has no more threads for this process
    return work(memory);
  }
  agents->run([&](std::size_t thread) {
    std::optional<OnNode> bound;
    if (place != Place::host() && thread > 0) bound.emplace(place.index);
    work(thread + 1 == threads ? memory.subspan(thread * share) : memory.subspan(thread * share, share));
  });
}

}  // namespace

void make_pages(Place place, std::span<std::byte> memory) {
  in_parts(place, memory, [](std::span<std::byte> part) {
    if (!populate(part)) touch_pages(part);
  });
}

void make_missing_pages(std::span<std::byte> memory) {
  if (memory.empty() || !lacks_pages(memory)) return;
  if (const auto available = available_host_memory(); available && available->size.count < memory.size()) return;
  std::byte* const first = rounded_down(memory.data() + huge_page - 1, huge_page);
  std::byte* const last = rounded_down(memory.data() + memory.size(), huge_page);
  if (first < last) static_cast<void>(madvise(first, static_cast<std::size_t>(last - first), MADV_HUGEPAGE));
  in_parts(Place::host(), memory, [](std::span<std::byte> part) { static_cast<void>(populate(part)); });
}

}  // namespace shiplap
