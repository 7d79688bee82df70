#include "shiplap/plan/probability.hpp"

#include <algorithm>
#include <cmath>

namespace shiplap {
namespace {

constexpr double normal_95 = 1.6448536269514722;  // nine in ten lie within so many standard deviations

/// A normal distribution with a standard deviation of its own on either side of the middle, half of it on each.
struct TwoSided {
  double middle;
  double below;
  double above;

  double cumulative(double x) const {
    const double deviation = x < middle ? below : above;
    return std::erfc((middle - x) / (deviation * std::sqrt(2.0))) / 2;
  }
};

}  // namespace

std::vector<double> probability_of_least(std::span<const Interval<Seconds>> times) {
  std::vector<TwoSided> all;
  double first = HUGE_VAL;
  double last = HUGE_VAL;  // beyond it one of them has certainly ended
  for (const Interval<Seconds>& t : times) {
    // Without any spread there would be nothing to integrate over.
    const double least = std::max(1e-12, 1e-9 * t.value.count());
    const TwoSided one{t.value.count(), std::max(least, (t.value - t.low).count() / normal_95),
                       std::max(least, (t.high - t.value).count() / normal_95)};
    first = std::min(first, one.middle - 5 * one.below);
    last = std::min(last, one.middle + 5 * one.above);
    all.push_back(one);
  }
  // Fine where any of them changes: steps of a tenth of its deviation about each middle.
  std::vector<double> grid{first, last};
  for (const TwoSided& one : all)
    for (int step = -50; step <= 50; ++step) {
      const double x = one.middle + step * 0.1 * (step < 0 ? one.below : one.above);
      if (x > first && x < last) grid.push_back(x);
    }
  std::ranges::sort(grid);
  std::vector<double> result(all.size(), 0.0);
  double sum = 0;
  for (std::size_t g = 0; g + 1 < grid.size(); ++g) {
    const double middle = (grid[g] + grid[g + 1]) / 2;
    for (std::size_t i = 0; i < all.size(); ++i) {
      double p = all[i].cumulative(grid[g + 1]) - all[i].cumulative(grid[g]);
      for (std::size_t j = 0; j < all.size() && p > 0; ++j)
        if (j != i) p *= 1 - all[j].cumulative(middle);
      result[i] += p;
      sum += p;
    }
  }
  for (double& p : result) p /= sum;
  return result;
}

}  // namespace shiplap
