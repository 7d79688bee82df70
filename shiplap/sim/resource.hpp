// The interface of a resource: a part of the machine that serves ops and knows the time of its next event.
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

/// The time of the next event of a resource that has none. All times of the simulator are seconds since the beginning.
inline constexpr double never = std::numeric_limits<double>::infinity();

/// The simulator repeats three steps. It calls `advance` of the resource with the earliest event. It then tells the ops
/// that waited for the op that ended. It finally calls `after_event` of the resource.
class Resource {
 public:
  virtual ~Resource() = default;
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;

  double next_event() const { return next_event_; }
  /// Performs the event that is due at `next_event()`. Returns the op that ended with it, or `no_op`.
  virtual OpIndex advance() = 0;
  /// Starts ops that can start after the event. All ops that waited for the op that ended have been told before.
  virtual void after_event(double /*now*/) {}

 protected:
  Resource() = default;
  double next_event_ = never;
};

}  // namespace shiplap::sim
