// Ids as distinct integer types, so that a stream id cannot be passed where a buffer id is expected.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace shiplap {

/// An index into one table. `Tag` makes the ids of different tables different types.
template <class Tag>
struct Id {
  std::uint32_t value = none_value;  ///< index in the table, or `none_value`

  static constexpr std::uint32_t none_value =
      std::numeric_limits<std::uint32_t>::max();  ///< value of an id that stands for no entry
  /// Whether the id stands for no entry.
  constexpr bool is_none() const { return value == none_value; }
  /// The index into the table. The id must not be none.
  constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using OpId = Id<struct OpTag>;                ///< index in Schedule::ops
using StreamId = Id<struct StreamTag>;        ///< index in Schedule::streams
using AgentId = Id<struct AgentTag>;          ///< index in Schedule::agents
using BufferId = Id<struct BufferTag>;        ///< index in Schedule::buffers
using KernelId = Id<struct KernelTag>;        ///< index in Schedule::kernels
using BlockListId = Id<struct BlockListTag>;  ///< index in Schedule::lists

}  // namespace shiplap
