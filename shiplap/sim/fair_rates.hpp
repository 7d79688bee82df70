// Rates of transfers that share capacities.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace shiplap::sim {

/// What several transfers share, in bytes per second.
struct Capacity {
  double rate = 0;
  std::vector<std::size_t> users{};  ///< indices of the transfers
};

/// The max-min fair rates of transfers: all rates rise together, and each stops where it reaches its own limit or where
/// a capacity that it uses is exhausted. No rate can then be raised without lowering one that is not larger (Bertsekas
/// and Gallager, Data Networks, 1992, section 6.5.2).
std::vector<double> fair_rates(std::span<const double> limits, std::span<const Capacity> capacities);

}  // namespace shiplap::sim
