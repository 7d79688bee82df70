#include "shiplap/plan/change.hpp"

#include <algorithm>
#include <cmath>

namespace shiplap {
namespace {

// Of independent normal residuals the mean difference of neighbours is 2/√π standard deviations.
constexpr double deviations_of_a_step = 0.886;
constexpr std::uint32_t most_steps = 16;

}  // namespace

bool ChangeTest::add(Side& side, double residual, double slack, double limit) {
  if (side.sum <= 0) side = {};
  side.sum += residual - slack;
  side.residuals += residual;
  ++side.count;
  return side.sum > limit;
}

std::optional<double> ChangeTest::add(double residual) {
  const double deviation = deviations_of_a_step * step_;
  const double slack = std::max(tolerance_, deviation);
  const double limit = std::max(tolerance_, 4 * deviation);
  std::optional<double> change;
  if (add(up_, residual, slack, limit)) change = up_.residuals / up_.count;
  if (add(down_, -residual, slack, limit)) change = -down_.residuals / down_.count;
  if (change) {
    begin_anew();
    return change;
  }
  // A step that a change makes is none of the noise, and does not come here.
  if (last_) {
    steps_ = std::min(steps_ + 1, most_steps);
    step_ += (std::abs(residual - *last_) - step_) / steps_;
  }
  last_ = residual;
  return change;
}

void ChangeTest::begin_anew() {
  up_ = {};
  down_ = {};
  last_.reset();
}

}  // namespace shiplap
