#include "shiplap/core/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

void require_samples(std::span<const double> samples, const char* what) {
  if (samples.empty()) throw Error(fmt::format("{} of no samples; give at least one", what));
}

std::vector<double> sorted(std::span<const double> samples, const char* what) {
  require_samples(samples, what);
  std::vector<double> result(samples.begin(), samples.end());
  // std::sort does not order values correctly when a NaN is among them.
  if (std::any_of(result.begin(), result.end(), [](double x) { return std::isnan(x); }))
    throw Error(fmt::format("{} of samples of which at least one is NaN; leave NaN out", what));
  std::sort(result.begin(), result.end());
  return result;
}

double quantile_of_sorted(const std::vector<double>& sorted_samples, double q) {
  const double position = q * static_cast<double>(sorted_samples.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted_samples.size()) return sorted_samples.back();
  const double low = sorted_samples[below];
  const double high = sorted_samples[below + 1];
  return low == high ? low : std::lerp(low, high, position - static_cast<double>(below));
}

// The largest k with P(X ≤ k − 1) ≤ 2.5 % for X binomial(n, 1/2), or 0 when there is none. The k-th smallest and the
// k-th largest of n samples enclose the median with a probability of at least 95 %. The sum starts at the middle terms,
// which are the largest, so that a large n causes no underflow.
std::size_t order_of_median_bound(std::size_t n) {
  const std::size_t half = (n + 1) / 2;  // C(n, ⌊n/2⌋) / 2^n = C(2·half, half) / 4^half, for even and odd n
  double probability = 1;
  for (std::size_t i = 1; i <= half; ++i) probability *= static_cast<double>(2 * i - 1) / static_cast<double>(2 * i);
  std::size_t j = n / 2;                                         // P(X = j) is `probability`
  double cumulative = n % 2 == 0 ? 0.5 + probability / 2 : 0.5;  // P(X ≤ j)
  while (cumulative > 0.025) {
    cumulative -= probability;
    if (j == 0) return 0;
    probability *= static_cast<double>(j) / static_cast<double>(n - j + 1);
    --j;
  }
  return j + 1;
}

}  // namespace

double mean(std::span<const double> samples) {
  require_samples(samples, "mean");
  double sum = 0;
  for (double x : samples) sum += x;
  return sum / static_cast<double>(samples.size());
}

double standard_deviation(std::span<const double> samples) {
  require_samples(samples, "standard deviation");
  if (samples.size() == 1) return 0;
  const double centre = mean(samples);
  double squares = 0;
  for (double x : samples) squares += (x - centre) * (x - centre);
  return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

double quantile(std::span<const double> samples, double q) {
  if (!(q >= 0 && q <= 1)) throw Error(fmt::format("quantile {}: expected a number from 0 to 1", q));
  return quantile_of_sorted(sorted(samples, "quantile"), q);
}

double median(std::span<const double> samples) { return quantile_of_sorted(sorted(samples, "median"), 0.5); }

Estimate median_estimate(std::span<const double> samples) {
  const std::vector<double> ordered = sorted(samples, "median");
  const double middle = quantile_of_sorted(ordered, 0.5);
  const std::size_t k = order_of_median_bound(ordered.size());
  if (k == 0) return {middle, ordered.front(), ordered.back()};
  return {middle, ordered[k - 1], ordered[ordered.size() - k]};
}

double median_standard_error(std::span<const double> samples) {
  const Estimate estimate = median_estimate(samples);
  return (estimate.high - estimate.low) / 2 / 1.96;
}

double robust_deviation(std::span<const double> samples) {
  constexpr double deviation_of_normal = 1.4826;
  const double middle = median(samples);
  std::vector<double> distances;
  for (const double sample : samples) distances.push_back(std::abs(sample - middle));
  return deviation_of_normal * median(distances);
}

double relative_spread(std::span<const double> samples) {
  const std::vector<double> ordered = sorted(samples, "spread");
  const double width = quantile_of_sorted(ordered, 0.95) - quantile_of_sorted(ordered, 0.05);
  if (width == 0) return 0;
  return width / std::abs(quantile_of_sorted(ordered, 0.5));
}

LineFit fit_line(std::span<const LinePoint> points) {
  double weights = 0;
  double x_sum = 0;
  double y_sum = 0;
  for (const LinePoint& p : points) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.sigma) || p.sigma <= 0)
      throw Error(fmt::format("fit of a line: point x = {}, y = {}, sigma = {}: expected finite numbers and sigma > 0",
                              p.x, p.y, p.sigma));
    const double weight = 1 / (p.sigma * p.sigma);
    weights += weight;
    x_sum += weight * p.x;
    y_sum += weight * p.y;
  }
  const bool distinct = std::any_of(points.begin(), points.end(), [&](const auto& p) { return p.x != points[0].x; });
  if (!distinct) throw Error("fit of a line: all points have the same x; give points at two different x at least");

  // With x relative to its weighted mean, slope and intercept are uncorrelated and cancellation is small.
  const double x_mean = x_sum / weights;
  const double y_mean = y_sum / weights;
  double xx = 0;
  double xy = 0;
  for (const LinePoint& p : points) {
    const double weight = 1 / (p.sigma * p.sigma);
    xx += weight * (p.x - x_mean) * (p.x - x_mean);
    xy += weight * (p.x - x_mean) * (p.y - y_mean);
  }
  const double slope = xy / xx;
  const double intercept = y_mean - slope * x_mean;

  LineFit fit;
  double chi_squared = 0;
  for (const LinePoint& p : points) {
    const double residual = intercept + slope * p.x - p.y;
    chi_squared += residual * residual / (p.sigma * p.sigma);
    const double relative =
        residual == 0 ? 0 : (p.y == 0 ? std::numeric_limits<double>::infinity() : std::abs(residual / p.y));
    fit.worst_relative_residual = std::max(fit.worst_relative_residual, relative);
  }
  // With more than two points the scatter about the line sets the scale of the intervals, and the sigmas are only
  // relative weights. Two points have no scatter, so their sigmas are used as they are.
  double factor = normal_975;
  if (points.size() > 2) {
    const std::size_t degrees = points.size() - 2;
    factor = student_t_975(degrees) * std::sqrt(chi_squared / static_cast<double>(degrees));
  }
  const double slope_half = factor * std::sqrt(1 / xx);
  const double intercept_half = factor * std::sqrt(1 / weights + x_mean * x_mean / xx);
  fit.slope = {slope, slope - slope_half, slope + slope_half};
  fit.intercept = {intercept, intercept - intercept_half, intercept + intercept_half};
  return fit;
}

double student_t_975(std::size_t degrees_of_freedom) {
  if (degrees_of_freedom == 0) throw Error("Student's t: at least one degree of freedom is needed");
  // Quantiles for 1 to 30 degrees of freedom to six decimals, as in statistics textbooks.
  constexpr std::array first_thirty{12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004,
                                    2.262157,  2.228139, 2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905,
                                    2.109816,  2.100922, 2.093024, 2.085963, 2.079614, 2.073873, 2.068658, 2.063899,
                                    2.059539,  2.055529, 2.051831, 2.048407, 2.045230, 2.042272};
  if (degrees_of_freedom <= first_thirty.size()) return first_thirty[degrees_of_freedom - 1];
  // Above 30 the quantile is almost linear in 1 / degrees of freedom. Linear interpolation has an error below 1e-4.
  struct Row {
    double inverse;
    double t;
  };
  constexpr std::array rows{Row{1.0 / 30, 2.042272}, Row{1.0 / 40, 2.021075}, Row{1.0 / 60, 2.000298},
                            Row{1.0 / 120, 1.979930}, Row{0, normal_975}};
  const double inverse = 1.0 / static_cast<double>(degrees_of_freedom);
  std::size_t i = 1;
  while (rows[i].inverse > inverse) ++i;
  const double along = (rows[i - 1].inverse - inverse) / (rows[i - 1].inverse - rows[i].inverse);
  return std::lerp(rows[i - 1].t, rows[i].t, along);
}

}  // namespace shiplap
