// When a series of residuals has left what noise explains: Page's cumulative sums (E. S. Page, "Continuous inspection
// schemes", Biometrika 1954), both ways.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace shiplap {

/// Of logarithmic residuals that are about 0 while nothing changes. One by itself is no change unless it is a factor of
/// two: what is timed on a node has outliers.
class ChangeTest {
 public:
  /// Residuals up to `tolerance` are taken for noise; more where they are seen to scatter more.
  explicit ChangeTest(double tolerance) : tolerance_(tolerance) {}

  /// One after the other. When there is a change, the median of the residuals since it began; then it begins anew.
  std::optional<double> add(double residual);
  /// Whether something adds up that is no change yet: half of what one takes.
  bool suspects() const { return std::max(up_.sum, down_.sum) > limit() / 2; }
  /// Residuals up to this are noise, by what was seen of it.
  double slack() const { return std::max(tolerance_, deviation()); }
  /// Forgets what has added up, not how residuals scatter.
  void begin_anew();

 private:
  struct Side {
    double sum = 0;                   ///< of what exceeds the slack
    std::vector<double> residuals{};  ///< since it was 0
  };
  /// Of an even number the smaller of the two in the middle: an outlier beside one that is none does not count.
  static double median_of(Side&);
  /// Whether it exceeds the limit.
  static bool add(Side&, double residual, double slack, double limit);
  /// Standard deviation of the residuals by the differences of neighbours; 0 while few are known.
  double deviation() const;
  double limit() const;  ///< of a sum

  double tolerance_;
  Side up_;
  Side down_;
  std::optional<double> last_;
  std::array<double, 16> steps_{};  ///< the last |differences of neighbours|, in a ring
  std::size_t known_steps_ = 0;     ///< counted from the beginning
};

}  // namespace shiplap
