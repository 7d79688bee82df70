// A value with its interval.
#pragma once

namespace shiplap {

/// A value with its 95 % interval. A value that is known exactly has `low == high == value`.
template <class T>
struct Interval {
  T value{};  ///< the best estimate
  T low{};    ///< lower end of the 95 % interval
  T high{};   ///< upper end of the 95 % interval

  /// The interval of a value that is known exactly.
  static constexpr Interval exact(T v) { return {v, v, v}; }
  friend bool operator==(const Interval&, const Interval&) = default;
};
using Estimate = Interval<double>;  ///< a number with its interval

}  // namespace shiplap
