#include "shiplap/model/chunk_choice.hpp"

#include <algorithm>
#include <cmath>

#include "shiplap/core/error.hpp"

namespace shiplap {

std::vector<std::uint32_t> divisors(std::uint64_t items, std::uint32_t limit) {
  if (items == 0) throw UsageError("a job of 0 items has no chunks; give at least one item");
  std::vector<std::uint32_t> found;
  const auto keep = [&](std::uint64_t d) {
    if (d <= limit) found.push_back(static_cast<std::uint32_t>(d));
  };
  for (std::uint64_t low = 1; low <= items / low; ++low) {
    if (items % low != 0) continue;
    keep(low);
    if (const std::uint64_t high = items / low; high != low) keep(high);
  }
  std::ranges::sort(found);
  return found;
}

std::uint32_t best_divisor(std::uint64_t items, const TimeOfChunks& time, std::uint32_t limit) {
  return std::ranges::min(divisors(items, std::max(1u, limit)), {}, time);
}

std::uint32_t best_integer_near(double optimum, const TimeOfChunks& time, std::uint32_t limit) {
  const double within = std::clamp(optimum, 1.0, std::max<double>(1, limit));
  const auto below = static_cast<std::uint32_t>(std::floor(within));
  const auto above = static_cast<std::uint32_t>(std::ceil(within));
  return time(above) < time(below) ? above : below;
}

std::uint32_t best_number(const TimeOfChunks& time, std::uint32_t limit) {
  std::uint32_t best = 1;
  Seconds least = time(1);
  const auto attempt = [&](std::uint32_t chunks) {
    const Seconds took = time(chunks);
    if (!(took < least)) return;
    least = took;
    best = chunks;
  };
  constexpr std::uint32_t steps = 20;
  for (std::uint32_t chunks = 2; chunks < limit; chunks += 1 + chunks / steps) attempt(chunks);
  if (limit > 1) attempt(limit);
  const std::uint32_t near = best / steps + 1;
  const std::uint32_t last = std::min(limit, best + near);
  for (std::uint32_t chunks = best > near ? best - near : 1; chunks <= last; ++chunks) attempt(chunks);
  return best;
}

}  // namespace shiplap
