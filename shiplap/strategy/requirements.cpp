#include "shiplap/strategy/requirements.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {

bool gives_advice(const Strategy& strategy) { return strategy.memory == ArrayMemory::managed && strategy.zero_copy; }

void require_single_calls(const Choice& choice, std::string_view strategy) {
  if (choice.graph)
    throw Unsupported(
        fmt::format("{}: it cannot be a graph, because host threads take part in it; leave `graph` out", strategy));
  if (choice.batched)
    throw Unsupported(fmt::format(
        "{}: it cannot have batched copies, because host threads take part in it; leave `batched` out", strategy));
}

void require_zero_copy(const Job& job) {
  if (offers_zero_copy(job)) return;
  if (job.each_byte_once)
    throw Unsupported(
        fmt::format("the kernel of {} touches bytes repeatedly, and each access to host memory would cross the link: "
                    "copy the arrays",
                    job.name));
  if (std::ranges::any_of(job.arrays, is_on_gpu))
    throw Unsupported(
        fmt::format("the kernel of {} is not known to touch each byte about once, and zero-copy is not measured beside "
                    "arrays on the GPU: say `.zero_copy_suits` if it does",
                    job.name));
  throw Unsupported(fmt::format(
      "the kernel of {} is not known to touch each byte about once, and repeated accesses to host memory would cross "
      "the "
      "link each time: copy the arrays, say `.zero_copy_suits`, or plan on a GPU with pinned or managed arrays, where "
      "zero-copy is measured",
      job.name));
}

void require_memory(const Job& job, ArrayMemory wanted, std::string_view strategy) {
  if (wanted != ArrayMemory::pinned && std::ranges::none_of(job.arrays, crosses_link))
    throw Unsupported(
        fmt::format("{}: all arrays are on the GPU, so nothing is copied: explicit runs the kernel", strategy));
  for (const Array& a : job.arrays) {
    if (!crosses_link(a)) continue;
    // Arrays that stay are copied once, before the first chunk.
    if (stays(a.role) && (wanted != ArrayMemory::pinned || a.memory == MemoryKind::pageable)) continue;
    const Array& cause = a.forced_pageable_by ? job.arrays[*a.forced_pageable_by] : a;
    const std::string found =
        fmt::format("{} is in {} memory{}", cause.name, to_string(a.memory),
                    a.forced_pageable_by ? " and makes all arrays that are cut count as pageable" : "");
    if (wanted == ArrayMemory::pinned && !is_pinned(a.memory))
      throw Unsupported(
          fmt::format("{}: pinned arrays are needed, and {}: pin {} (`pinned_vector`){}", strategy, found, cause.name,
                      a.memory == MemoryKind::pageable
                          ? ", state the `runs` over the same arrays, because a plan pins them where that pays, or "
                            "let staged bring them through pinned rings"
                          : ""));
    if (wanted == ArrayMemory::pageable && a.memory != MemoryKind::pageable)
      throw Unsupported(fmt::format("{}: pageable arrays are needed, and {}{}", strategy, found,
                                    is_pinned(a.memory) ? ": explicit and streams copy it" : ""));
    if (wanted == ArrayMemory::managed && a.memory != MemoryKind::managed)
      throw Unsupported(fmt::format("{}: managed arrays are needed (cudaMallocManaged), and {}", strategy, found));
  }
}

}  // namespace shiplap
