#include "shiplap/plan/change.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shiplap {
namespace {

/// The expected third largest of sixteen differences of neighbours, in standard deviations of normal residuals.
constexpr double deviations_of_third_step = 2;
constexpr std::size_t fewest_steps = 8;
/// Largest part of the limit that a single residual may add to a sum, unless it is larger than `believed_at_once`.
constexpr double most_of_the_limit = 0.75;
/// A residual of a factor of two is a change at once, because outliers of that size are rarer than changes.
constexpr double believed_at_once = std::numbers::ln2;

}  // namespace

bool ChangeTest::add(Side& side, double residual, double slack, double limit) {
  if (side.sum <= 0) side = {};
  side.sum += residual > believed_at_once ? residual - slack : std::min(residual - slack, most_of_the_limit * limit);
  side.residuals.push_back(residual);
  return side.sum > limit;
}

double ChangeTest::median_of(Side& side) {
  const auto middle = side.residuals.begin() + static_cast<std::ptrdiff_t>((side.residuals.size() - 1) / 2);
  std::nth_element(side.residuals.begin(), middle, side.residuals.end());
  return *middle;
}

// The two largest differences do not count, because they may be the beginnings of changes.
double ChangeTest::deviation() const {
  const std::size_t known = std::min(known_steps_, steps_.size());
  if (known < fewest_steps) return 0;
  auto sorted = steps_;
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(known));
  return sorted[known - 3] / deviations_of_third_step;
}

double ChangeTest::limit() const { return std::max(tolerance_, 5 * deviation()); }

std::optional<double> ChangeTest::add(double residual) {
  const double slack = this->slack();
  const double limit = this->limit();
  std::optional<double> change;
  if (add(up_, residual, slack, limit)) change = median_of(up_);
  if (add(down_, -residual, slack, limit)) change = -median_of(down_);
  if (change) {
    begin_anew();
    return change;
  }
  if (last_ && std::abs(residual - *last_) <= believed_at_once)
    steps_[known_steps_++ % steps_.size()] = std::abs(residual - *last_);
  last_ = residual;
  return change;
}

void ChangeTest::begin_anew() {
  up_ = {};
  down_ = {};
  last_.reset();
}

}  // namespace shiplap
