// Strong integer ids: a queue number cannot be passed where a buffer number is meant.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace shiplap {

/// An index into one particular table. `Tag` only tells the tables apart.
template <class Tag>
struct Id {
  std::uint32_t value = none_value;

  static constexpr std::uint32_t none_value = std::numeric_limits<std::uint32_t>::max();
  constexpr bool is_none() const { return value == none_value; }
  constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using OpId = Id<struct OpTag>;
using QueueId = Id<struct QueueTag>;
using AgentId = Id<struct AgentTag>;
using BufferId = Id<struct BufferTag>;
using KernelId = Id<struct KernelTag>;

}  // namespace shiplap
