#include "shiplap/strategy/strategy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/spelling.hpp"
#include "shiplap/strategy/chunked.hpp"
#include "shiplap/strategy/names.hpp"
#include "shiplap/strategy/relayed.hpp"

namespace shiplap {

std::span<const Strategy> strategies() {
  static const std::array table{
      explicit_strategy, streams_strategy, implicit_strategy, hybrid_strategy,           hybrid_mirror_strategy,
      pageable_strategy, staged_strategy,  managed_strategy,  managed_prefetch_strategy, managed_implicit_strategy};
  return table;
}

const Strategy& find_strategy(std::string_view name) {
  std::vector<std::string> names;
  for (const Strategy& s : strategies()) {
    if (s.name == name) return s;
    names.emplace_back(s.name);
  }
  throw UsageError(fmt::format("`strategies` {}: there is no such strategy; {}there are: {}", name,
                               did_you_mean(name, names), fmt::join(names, ", ")));
}

ArrayMemory array_memory(const Job& job) {
  const MemoryKind memory = memory_of(job);
  return memory == MemoryKind::pageable  ? ArrayMemory::pageable
         : memory == MemoryKind::managed ? ArrayMemory::managed
                                         : ArrayMemory::pinned;
}

}  // namespace shiplap
