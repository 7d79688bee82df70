// From a model to a number of chunks: an optimum over the real numbers is not a number of chunks, and rounding it can
// miss the best one; so the model is evaluated where a job can be cut.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// The time that a model gives for a number of chunks.
using TimeOfChunks = std::function<Seconds(std::uint32_t chunks)>;

/// All divisors of `items` up to `limit`, ascending: 42 has 1, 2, 3, 6, 7, 14, 21, 42. Throws UsageError for 0 items.
std::vector<std::uint32_t> divisors(std::uint64_t items,
                                    std::uint32_t limit = std::numeric_limits<std::uint32_t>::max());

/// The divisor of `items`, at most `limit`, for which `time` is least; of equals the smallest.
std::uint32_t best_divisor(std::uint64_t items, const TimeOfChunks& time,
                           std::uint32_t limit = std::numeric_limits<std::uint32_t>::max());

/// The better of the integers on both sides of `optimum`, kept within 1 and `limit`; of equals the smaller. That is the
/// best integer of all where `time` is convex in the number of chunks, as all forms of the papers are.
std::uint32_t best_integer_near(double optimum, const TimeOfChunks& time, std::uint32_t limit);

}  // namespace shiplap
