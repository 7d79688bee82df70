#include "shiplap/plan/learned_ratios.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "shiplap/core/statistics.hpp"

namespace shiplap {

std::size_t LearnedRatios::bin(double ratio) {
  const double middle = (bins - 1) / 2.0;
  return static_cast<std::size_t>(std::lround(std::clamp(middle + 2 * std::log2(ratio), 0.0, bins - 1.0)));
}

double LearnedRatios::ratio_of(std::size_t choice, double ratio) const {
  const std::vector<std::optional<double>>& known = of_.at(choice);
  const std::size_t wanted = bin(ratio);
  for (std::size_t distance = 0; distance < bins; ++distance) {
    if (wanted >= distance && known[wanted - distance]) return *known[wanted - distance];
    if (wanted + distance < bins && known[wanted + distance]) return *known[wanted + distance];
  }
  return 0;
}

double LearnedRatios::ratio_or_typical(std::size_t choice, double ratio) const {
  if (knows(choice, ratio)) return ratio_of(choice, ratio);
  std::vector<double> of_others;
  for (std::size_t other = 0; other < of_.size(); ++other)
    if (knows(other, ratio)) of_others.push_back(ratio_of(other, ratio));
  const double own = ratio_of(choice, ratio);
  if (of_others.empty()) return own;
  return of_others.size() == 1 ? (of_others.front() + own) / 2 : median(of_others);
}

bool LearnedRatios::knows_any(std::size_t choice) const {
  return std::ranges::any_of(of_.at(choice), [](const auto& value) { return value.has_value(); });
}

}  // namespace shiplap
