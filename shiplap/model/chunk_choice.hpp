// The best number of chunks by a model. The optimum over the real numbers is not a whole number, and rounding it can
// miss the best one. The model is therefore evaluated at the numbers of chunks that are possible.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// The time that a model gives for a number of chunks.
using TimeOfChunks = std::function<Seconds(std::uint32_t chunks)>;

/// All divisors of `items` up to `limit` in ascending order: 1, 2, 3, 6, 7, 14, 21, 42 for 42 items. Throws UsageError
/// for 0 items.
std::vector<std::uint32_t> divisors(std::uint64_t items,
                                    std::uint32_t limit = std::numeric_limits<std::uint32_t>::max());

/// The divisor of `items`, at most `limit`, with the least time; among equals the smallest.
std::uint32_t best_divisor(std::uint64_t items, const TimeOfChunks& time,
                           std::uint32_t limit = std::numeric_limits<std::uint32_t>::max());

/// The better of the two integers next to `optimum`, after clamping it to [1, limit]; among equals the smaller. It is
/// the best of all integers when `time` is convex in the number of chunks, as all forms of the papers are.
std::uint32_t best_integer_near(double optimum, const TimeOfChunks& time, std::uint32_t limit);

/// The number with the least time among 1, 2, 3, … up to 20, from there on in steps of 5 % up to `limit`, and all
/// numbers near the best of these. It is for times that are not convex in the number of chunks, because the gap of a
/// copy depends on its size.
std::uint32_t best_number(const TimeOfChunks& time, std::uint32_t limit);

}  // namespace shiplap
