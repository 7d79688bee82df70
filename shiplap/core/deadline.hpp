// Clocks, and a moment by which work must end.
#pragma once

#include <functional>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// Wall-clock time since an unspecified moment. The clock is steady.
Seconds steady_time();

/// Time since the begin of 1970 (UTC) by the clock of the system, which can be set while a program runs. It is what
/// other processes and people read; a span is taken from `steady_time`.
Seconds time_since_1970();

/// Suspends the calling thread for this time; returns at once when it is not above 0.
void sleep_for(Seconds);

/// A moment by which work must end. Without arguments there is none, and the deadline never passes.
class Deadline {
 public:
  Deadline() = default;
  /// The deadline passes when `now` reaches `at`.
  explicit Deadline(Seconds at, std::function<Seconds()> now = steady_time);
  /// The deadline that passes when this time has gone by; 0: none. Throws UsageError for what is no time limit: a
  /// number below 0, which is often what is left of a limit that has passed, or none at all.
  static Deadline in(Seconds limit);

  bool passed() const { return left() <= Seconds{0}; }
  /// Time that is left, negative after the deadline, and infinite without one.
  Seconds left() const;

 private:
  Seconds at_{0};
  std::function<Seconds()> now_{};
};

}  // namespace shiplap
