// Statistics for measuring, fitting and reporting, as pure functions of samples.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "shiplap/core/interval.hpp"

namespace shiplap {

/// Arithmetic mean. All functions of samples throw Error when there are no samples.
double mean(std::span<const double> samples);
/// Sample standard deviation (divisor n − 1); 0 for one sample.
double standard_deviation(std::span<const double> samples);
/// The quantile for q in [0, 1], interpolated linearly between order statistics.
double quantile(std::span<const double> samples, double q);
/// Median, interpolated for an even number of samples.
double median(std::span<const double> samples);
/// Median with its distribution-free 95 % interval from order statistics (binomial). Below 6 samples the interval spans
/// all samples.
Estimate median_estimate(std::span<const double> samples);
/// Standard error of the median, from the width of its 95 % interval (half width / 1.96).
double median_standard_error(std::span<const double> samples);
/// Robust standard deviation: 1.4826 times the median absolute deviation from the median, which is the standard
/// deviation of normally distributed samples. Fewer than half of the samples change it little, however far away they
/// are.
double robust_deviation(std::span<const double> samples);
/// (95th − 5th percentile) / median: the spread of repeated runs without single outliers.
double relative_spread(std::span<const double> samples);

/// A point for the fit of a line y = intercept + slope · x, weighted by 1 / sigma².
struct LinePoint {
  double x = 0;      ///< independent variable
  double y = 0;      ///< observed value
  double sigma = 1;  ///< standard error of y, above 0
};
/// Result of fit_line.
struct LineFit {
  Estimate intercept;  ///< in units of y
  Estimate slope;      ///< in units of y per unit of x
  /// Largest |fit − y| / |y| over the points.
  double worst_relative_residual = 0;
};
/// Fits a straight line by weighted least squares. Throws Error unless there are two distinct x. The intervals use
/// Student's t with n − 2 degrees of freedom. With two points they follow from the sigmas alone.
LineFit fit_line(std::span<const LinePoint> points);

/// The 97.5 % quantile of the standard normal distribution: half the width of a 95 % interval in standard errors.
inline constexpr double normal_975 = 1.959963984540054;
/// Two-sided 97.5 % quantile of Student's t with `degrees_of_freedom` ≥ 1.
double student_t_975(std::size_t degrees_of_freedom);

}  // namespace shiplap
