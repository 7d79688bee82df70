// Schedules submitted one behind another to the same streams before the earlier ones have ended: overlapping runs, as
// one schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// Throws Unsupported for a schedule that cannot be submitted behind others: one that several host agents submit, of
/// which the host performs ops itself, or a graph.
void require_successive(const Schedule&);
/// Throws as `require_successive` does, and Error where a stream is of another GPU than the stream of the same number
/// among those that are there.
void require_shareable(std::span<const Stream> there, const Schedule&);

/// One of them.
struct Successor {
  const Schedule* schedule = nullptr;  ///< not null
  /// Whose memory it works on: those of one slot share their buffers by number, those of different slots none.
  std::uint32_t slot = 0;
  /// The earlier one whose end the host awaits before it submits this one.
  std::optional<std::size_t> awaited{};
};

/// All of them.
struct Succession {
  Schedule schedule;                 ///< stream i of every one is stream i of it
  std::vector<std::uint32_t> first;  ///< op of each one, its await left out; and behind the last one the number of ops

  /// Of a successor, in a timeline of the schedule: from when its first stream gets to it (the host has, and what is
  /// before it there has ended), which is where a device's start mark stands, to the end of its last op. Zero for one
  /// without ops.
  Span span(const Timeline&, std::size_t which) const;
};

/// A buffer that those of one slot share is as large as the largest of them asks for. Those of one slot must be ordered
/// by `behind`. Throws as `require_shareable` does, and Error for one that does not fit the others: it
/// differs in whether GPUs address each other's memory, or a buffer is of another kind or place than that of an earlier
/// one of its slot.
Succession succession(std::span<const Successor>);

}  // namespace shiplap
