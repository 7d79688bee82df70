// A stream of the caller that waits while a run in other streams takes its turn.
#pragma once

#include <functional>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// Blocks a stream of the caller at this point. The host can wait for the work enqueued before it. Work enqueued after
/// it waits until this object is released or destroyed.
class StreamGap {
 public:
  virtual ~StreamGap();
  /// Makes the host wait for the work enqueued before this object. Throws Error when that work failed, TimedOut when it
  /// does not end within `limit` (0: without limit), and Cancelled as soon as `stop` returns true.
  virtual void wait(Seconds limit, const std::function<bool()>& stop) = 0;
  /// Lets the work enqueued after this object begin.
  virtual void release() noexcept = 0;
};

}  // namespace shiplap
