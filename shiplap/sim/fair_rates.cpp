#include "shiplap/sim/fair_rates.hpp"

#include <algorithm>
#include <limits>

namespace shiplap::sim {

std::vector<double> fair_rates(std::span<const double> limits, std::span<const Capacity> capacities) {
  std::vector<double> rates(limits.begin(), limits.end());
  std::vector<bool> is_fixed(limits.size(), false);
  // The rate at which this capacity is exhausted when all of its users that are not fixed rise to it.
  const auto level_of = [&](const Capacity& capacity) {
    double left = capacity.rate;
    std::size_t rising = 0;
    for (const std::size_t user : capacity.users) {
      if (is_fixed[user])
        left -= rates[user];
      else
        ++rising;
    }
    return rising == 0 ? std::numeric_limits<double>::infinity() : std::max(0.0, left / static_cast<double>(rising));
  };
  for (;;) {
    double level = std::numeric_limits<double>::infinity();
    const Capacity* exhausted = nullptr;
    for (const Capacity& capacity : capacities)
      if (const double at = level_of(capacity); at < level) {
        level = at;
        exhausted = &capacity;
      }
    if (exhausted == nullptr) return rates;
    // Whoever stops below this level by itself leaves more to the others.
    bool stops_before = false;
    for (std::size_t i = 0; i < rates.size(); ++i)
      if (!is_fixed[i] && limits[i] <= level) is_fixed[i] = stops_before = true;
    if (stops_before) continue;
    for (const std::size_t user : exhausted->users)
      if (!is_fixed[user]) {
        rates[user] = level;
        is_fixed[user] = true;
      }
  }
}

}  // namespace shiplap::sim
