#include "shiplap/device/pattern.hpp"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <cstring>

#include "shiplap/core/error.hpp"
#include "shiplap/core/parallel.hpp"

namespace shiplap {
namespace {

static_assert(std::endian::native == std::endian::little, "words are compared byte by byte, lowest byte first");

constexpr std::size_t word_size = sizeof(std::uint64_t);
constexpr std::size_t pattern_grain = 1 << 20;  // bytes per thread below which a further thread costs more than it
                                                // saves

std::uint64_t differing_bytes(std::uint64_t difference) {
  std::uint64_t count = 0;
  for (; difference != 0; difference >>= 8) count += (difference & 0xff) != 0 ? 1 : 0;
  return count;
}

}  // namespace

void fill_pattern(std::span<std::byte> memory, std::uint64_t seed) {
  parallel_for(memory.size(), pattern_grain, [&](std::uint64_t at, std::uint64_t end) {
    for (; at + word_size <= end; at += word_size) {
      const std::uint64_t value = pattern_word(at / word_size, seed);
      std::memcpy(memory.data() + at, &value, word_size);
    }
    const std::uint64_t last = pattern_word(at / word_size, seed);
    std::memcpy(memory.data() + at, &last, end - at);
  });
}

std::uint64_t count_mismatches(std::span<const std::byte> memory, std::uint64_t seed, Bytes pattern_offset) {
  if (pattern_offset.count % word_size != 0)
    throw Error(
        fmt::format("the pattern can be compared from a multiple of 8 bytes on, not from {}", pattern_offset.count));
  const std::uint64_t first = pattern_offset.count / word_size;
  std::atomic<std::uint64_t> count = 0;
  parallel_for(memory.size(), pattern_grain, [&](std::uint64_t at, std::uint64_t end) {
    std::uint64_t mine = 0;
    for (; at + word_size <= end; at += word_size) {
      std::uint64_t found = 0;
      std::memcpy(&found, memory.data() + at, word_size);
      mine += differing_bytes(found ^ pattern_word(first + at / word_size, seed));
    }
    const std::uint64_t expected = pattern_word(first + at / word_size, seed);
    std::uint64_t found = expected;  // bytes beyond the end of the memory count as equal
    std::memcpy(&found, memory.data() + at, end - at);
    count += mine + differing_bytes(found ^ expected);
  });
  return count;
}

}  // namespace shiplap
