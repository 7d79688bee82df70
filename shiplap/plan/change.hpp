// A test for changes in a series of residuals: Page's cumulative sums of positive and of negative residuals (E. S.
// Page, "Continuous inspection schemes", Biometrika 1954).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace shiplap {

/// The test takes logarithms of observed over expected times, which are about 0 while nothing changes. A single
/// residual is no change unless it is a factor of two, because times on a node have outliers.
class ChangeTest {
 public:
  /// Residuals up to `tolerance`, or up to their standard deviation if that is larger, are noise.
  explicit ChangeTest(double tolerance) : tolerance_(tolerance) {}

  /// Adds a residual. Returns the median of the residuals since the change began when a change is found, and begins
  /// anew.
  std::optional<double> add(double residual);
  /// Whether a sum has reached half of its limit, so that a change is likely.
  bool suspects() const { return std::max(up_.sum, down_.sum) > limit() / 2; }
  /// Magnitude up to which a residual is noise: the tolerance or the standard deviation.
  double slack() const { return std::max(tolerance_, deviation()); }
  /// Sets the sums to 0. The standard deviation stays known.
  void begin_anew();

 private:
  struct Side {
    double sum = 0;                   ///< sum of the residuals minus the slack, never below 0
    std::vector<double> residuals{};  ///< residuals since the sum was 0
  };
  /// The median, for an even number of residuals the smaller of the two in the middle, so that one outlier of two does
  /// not count.
  static double median_of(Side&);
  /// Adds a residual to the sum. Returns whether the sum exceeds the limit.
  static bool add(Side&, double residual, double slack, double limit);
  /// Standard deviation of the residuals, from the differences of neighbours; 0 while fewer than eight are known.
  double deviation() const;
  double limit() const;  ///< the sum above which there is a change

  double tolerance_;
  Side up_;
  Side down_;
  std::optional<double> last_;
  std::array<double, 16> steps_{};  ///< the last magnitudes of differences of neighbours, in a ring
  std::size_t known_steps_ = 0;     ///< number of differences since the test was constructed
};

}  // namespace shiplap
