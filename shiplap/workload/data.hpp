// Test data as functions of the index, so that any element can be computed again without a copy.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "shiplap/core/parallel.hpp"

namespace shiplap {

/// A hash of an index (SplitMix64's finaliser); `stream` tells independent sequences apart.
constexpr std::uint64_t hash_of(std::uint64_t index, std::uint64_t stream) {
  std::uint64_t z = index + stream * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// A whole number of magnitude 1 to 4. Sums of up to `exact_terms` products of two such numbers stay within 2^24, so
/// they are exact in float in any order, fused or not.
constexpr std::int64_t small_whole(std::uint64_t index, std::uint64_t stream) {
  const auto number = static_cast<std::int64_t>(hash_of(index, stream) >> 61);  // 0 to 7
  return number < 4 ? number - 4 : number - 3;
}
constexpr std::uint64_t exact_terms = 1 << 20;
/// A number that is no sum of such products, for elements that must be overwritten.
constexpr float not_whole(std::uint64_t index, std::uint64_t stream) {
  return static_cast<float>(small_whole(index, stream)) + 0.5f;
}

template <class T>
std::span<T> as_elements(std::span<std::byte> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

/// Sets each element i to value(i), on all cores.
template <class T, class Value>
void generate(std::span<T> elements, const Value& value) {
  parallel_for(elements.size(), 1 << 16, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) elements[i] = value(i);
  });
}

/// The first index below `count` for which `is_good` is false, found on all cores; `count` when there is none. A thread
/// takes `grain` indices at a time.
template <class Predicate>
std::uint64_t first_failure(std::uint64_t count, std::uint64_t grain, const Predicate& is_good) {
  std::atomic<std::uint64_t> first = count;
  parallel_for(count, grain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      if (is_good(i)) continue;
      std::uint64_t known = first;
      while (i < known && !first.compare_exchange_weak(known, i)) {
      }
      return;
    }
  });
  return first;
}

/// The first index i at which elements[i] and expected(i) differ in their bits, found on all cores; elements.size()
/// when there is none.
template <class T, class Value>
std::uint64_t first_difference(std::span<const T> elements, const Value& expected) {
  return first_failure(elements.size(), 1 << 16, [&](std::uint64_t i) {
    const T wanted = expected(i);
    return std::memcmp(&elements[i], &wanted, sizeof(T)) == 0;
  });
}

}  // namespace shiplap
