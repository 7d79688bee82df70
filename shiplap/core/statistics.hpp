// The statistics that measuring, fitting and reporting need, as pure functions of samples.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace shiplap {

/// A value with its 95 % interval; `low == high == value` for something that is known exactly.
template <class T>
struct Interval {
  T value{};  ///< the best estimate
  T low{};    ///< lower end of the 95 % interval
  T high{};   ///< upper end of the 95 % interval

  /// Of a value that is known exactly.
  static constexpr Interval exact(T v) { return {v, v, v}; }
  friend bool operator==(const Interval&, const Interval&) = default;
};
using Estimate = Interval<double>;  ///< of a number

/// All of these throw Error on empty input.
double mean(std::span<const double> samples);
/// Sample standard deviation (n − 1); 0 for one sample.
double standard_deviation(std::span<const double> samples);
/// Quantile q in [0, 1] with linear interpolation between order statistics.
double quantile(std::span<const double> samples, double q);
/// Throws Error on empty input.
double median(std::span<const double> samples);
/// Median with the distribution-free 95 % interval from order statistics (binomial); the whole range below 6 samples.
Estimate median_estimate(std::span<const double> samples);
/// Standard error of the median, from the width of its 95 % interval (half width / 1.96).
double median_standard_error(std::span<const double> samples);
/// (95th − 5th percentile) / median: how far repeated runs differ, without single outliers.
double relative_spread(std::span<const double> samples);

/// One observation of a straight-line fit y = intercept + slope · x, weighted by 1 / sigma².
struct LinePoint {
  double x = 0;      ///< where
  double y = 0;      ///< what was seen there
  double sigma = 1;  ///< standard error of y, larger than 0
};
/// What fit_line found.
struct LineFit {
  Estimate intercept;  ///< in units of y
  Estimate slope;      ///< in units of y for one of x
  /// Largest |fit − y| / |y| over the points.
  double worst_relative_residual = 0;
};
/// Weighted least squares of a straight line; needs two distinct x, else throws Error.
/// Intervals use Student's t with n − 2 degrees of freedom; with two points they come from the sigmas alone.
LineFit fit_line(std::span<const LinePoint> points);

/// The 97.5 % quantile of the standard normal distribution: a 95 % interval is so many standard errors to either side.
inline constexpr double normal_975 = 1.959963984540054;
/// Two-sided 97.5 % quantile of Student's t with `degrees_of_freedom` ≥ 1.
double student_t_975(std::size_t degrees_of_freedom);

}  // namespace shiplap
