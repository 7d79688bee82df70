#include "shiplap/plan/elimination.hpp"

#include <algorithm>
#include <cmath>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"

namespace shiplap {

TimesCompared compare_times(std::span<const double> seconds, std::span<const double> other,
                            const EliminationOptions& options) {
  const std::size_t rounds = std::min(seconds.size(), other.size());
  if (rounds == 0) return {};
  std::vector<double> logarithms;
  for (std::size_t r = 0; r < rounds; ++r) logarithms.push_back(std::log(seconds[r] / other[r]));
  const double middle = median(logarithms);
  TimesCompared result{.slower = std::expm1(middle), .surely = false};
  if (rounds >= 2 && std::ranges::min(logarithms) > std::log1p(options.clearly_slower)) result.surely = true;
  if (rounds < std::max(2u, options.least_rounds)) return result;
  const double by_chance = student_t_975(rounds - 1) * standard_deviation(logarithms) / std::sqrt(rounds);
  const double surely = mean(logarithms) - by_chance;
  // A single round that was held up moves the mean, not the median.
  if (surely > 0 && middle > std::log1p(options.alike)) result.surely = true;
  return result;
}

Elimination::Elimination(std::size_t candidates, const EliminationOptions& options)
    : options_(options), left_(candidates, true), seconds_(candidates) {
  if (candidates == 0) throw Error("an elimination needs at least one candidate, and there is none");
}

std::vector<std::size_t> Elimination::round() const {
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < left_.size(); ++c)
    if (left_[c]) order.push_back(c);
  // The order differs from round to round, so that no candidate always runs after the same one.
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rounds_ % order.size()), order.end());
  if (rounds_ % 2 == 1) std::ranges::reverse(order);
  return order;
}

void Elimination::observe(std::size_t candidate, Seconds time) { seconds_.at(candidate).push_back(time.count()); }

std::size_t Elimination::fastest() const {
  std::size_t best = left_.size();
  for (std::size_t c = 0; c < left_.size(); ++c)
    if (left_[c] && !seconds_[c].empty() && (best == left_.size() || median(seconds_[c]) < median(seconds_[best])))
      best = c;
  return best == left_.size() ? 0 : best;
}

void Elimination::end_round() {
  ++rounds_;
  const std::size_t best = fastest();
  for (std::size_t c = 0; c < left_.size(); ++c)
    if (left_[c] && c != best && compare_times(seconds_[c], seconds_[best], options_).surely) left_[c] = false;
}

bool Elimination::decided() const {
  const auto count = std::ranges::count(left_, true);
  if (count <= 1 || rounds_ >= options_.most_rounds) return true;
  // The race is decided too when all remaining candidates are known to differ by less than `alike`.
  const std::size_t best = fastest();
  for (std::size_t c = 0; c < left_.size(); ++c) {
    if (!left_[c] || c == best) continue;
    const auto& mine = seconds_[c];
    const auto& its = seconds_[best];
    if (mine.size() < 3 * options_.least_rounds) return false;
    std::vector<double> ratios;
    for (std::size_t r = 0; r < mine.size(); ++r) ratios.push_back(mine[r] / its[r] - 1);
    if (std::abs(median(ratios)) + median_standard_error(ratios) * 2 > options_.alike) return false;
  }
  return true;
}

std::size_t Elimination::winner() const {
  const std::size_t best = fastest();
  for (std::size_t c = 0; c < best; ++c)
    if (left_[c] && !seconds_[c].empty() &&
        compare_times(seconds_[c], seconds_[best], options_).slower <= options_.alike)
      return c;
  return best;
}

}  // namespace shiplap
