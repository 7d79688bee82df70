// The test pattern that every measurement moves and checks: each 8-byte word is a hash of its index and the seed. Host
// and GPU share the function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shiplap/core/units.hpp"

#if defined(__CUDACC__)
#define SHIPLAP_HOST_AND_DEVICE __host__ __device__
#else
#define SHIPLAP_HOST_AND_DEVICE
#endif

namespace shiplap {

/// Word `index` of the pattern: the finaliser of splitmix64 (Steele, Lea, Flood 2014) over index and seed. Data that is
/// missing, stale or in the wrong place differs in nearly every word.
SHIPLAP_HOST_AND_DEVICE constexpr std::uint64_t pattern_word(std::uint64_t index, std::uint64_t seed) {
  std::uint64_t z = (index ^ (seed * 0xD1342543DE82EF95u)) + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// Writes the pattern from its beginning, least significant byte of a word first. The length need not be a multiple of
/// 8. Large memory is filled by all cores.
void fill_pattern(std::span<std::byte> memory, std::uint64_t seed);

/// Number of bytes that differ from the pattern's bytes [pattern_offset, pattern_offset + memory.size()).
/// `pattern_offset` is a multiple of 8. Throws Error when it is not.
std::uint64_t count_mismatches(std::span<const std::byte> memory, std::uint64_t seed, Bytes pattern_offset);

}  // namespace shiplap

#undef SHIPLAP_HOST_AND_DEVICE
