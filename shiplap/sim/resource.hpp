// The contract of a resource: a part of the machine that serves ops and says itself when something happens next.
#pragma once

#include <cstdint>
#include <limits>

namespace shiplap::sim {

/// Position of an op in the schedule.
using OpIndex = std::uint32_t;
inline constexpr OpIndex no_op = ~0u;
/// Position of a stream in the schedule.
using StreamIndex = std::uint32_t;
inline constexpr StreamIndex no_stream = ~0u;

/// The time of an event that is not due. All times of the simulator are seconds since the beginning.
inline constexpr double never = std::numeric_limits<double>::infinity();

/// A resource holds the ops that it serves, and the moment of its next event. The simulator looks for
/// the resource with the earliest event and performs that event. It then tells the ops that waited for the op that
/// ended, and lets the resource go on.
class Resource {
 public:
  virtual ~Resource() = default;
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;

  double next_event() const { return next_event_; }
  /// Performs the event that is due at `next_event()`. Returns the op that ended with it, or `no_op`.
  virtual OpIndex advance() = 0;
  /// Starts what can start after the event, when everything that waited for the ended op has been told.
  virtual void go_on(double /*now*/) {}

 protected:
  Resource() = default;
  double next_event_ = never;
};

}  // namespace shiplap::sim
