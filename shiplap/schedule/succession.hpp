// Overlapping runs as one schedule: schedules that are submitted to the same streams one after the other, without
// waiting for the end of the earlier ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// Throws Unsupported for a schedule that cannot be submitted after others to the same streams. Such a schedule has
/// several host agents, is a graph, or has ops that block their agent.
void require_successive(const Schedule&);
/// Throws as `require_successive` does, and Error when a stream is on another GPU than the existing stream of the same
/// number, or only one of the two is urgent.
void require_shareable(std::span<const Stream> existing, const Schedule&);

/// A schedule of a succession.
struct Successor {
  const Schedule* schedule = nullptr;  ///< not null
  /// The memory that the schedule works on. Schedules with the same slot share their buffers by number. Schedules with
  /// different slots share no buffer.
  std::uint32_t slot = 0;
  /// Index of the earlier schedule whose end the host awaits before it submits this one; none: it awaits no end.
  std::optional<std::size_t> awaited{};
};

/// Several schedules as one.
struct Succession {
  Schedule schedule;  ///< the ops of all schedules; stream i of each is its stream i
  /// For each schedule the number of its first op after the host's wait, if any. The last entry is the number of all
  /// ops.
  std::vector<std::uint32_t> first;

  /// The span of the schedule number `which` in a timeline of `schedule`. It starts when the host has submitted the
  /// first op and the ops before it in its stream have ended, which is the time of a device's start mark. It ends with
  /// the last op. It is zero for a schedule without ops.
  Span span(const Timeline&, std::size_t which) const;
};

/// The succession of these schedules. Schedules of one slot must be ordered by `awaited`. A buffer that they share has
/// the largest of their sizes. Throws as `require_shareable` does. Throws Error when the schedules differ in
/// `peer_access`, or when the buffers of one slot differ in kind of memory or place.
Succession succession(std::span<const Successor>);

}  // namespace shiplap
