#include "shiplap/device/pattern.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

TEST(Pattern, begins_with_the_published_first_value_of_splitmix64) {
  EXPECT_EQ(pattern_word(0, 0), 0xE220A8397B1DCDAFu);
}

TEST(Pattern, writes_words_low_byte_first_and_a_last_piece_of_a_word) {
  std::vector<std::byte> memory(11);
  fill_pattern(memory, 7);
  for (std::size_t i = 0; i < memory.size(); ++i)
    EXPECT_EQ(memory[i], static_cast<std::byte>(pattern_word(i / 8, 7) >> (8 * (i % 8)))) << i;
}

TEST(Pattern, counts_every_differing_byte_also_across_the_pieces_of_many_threads) {
  std::vector<std::byte> memory((5u << 20) + 3);
  fill_pattern(memory, 1);
  EXPECT_EQ(count_mismatches(memory, 1, 0_B), 0u);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, (std::size_t{1} << 20) - 1, std::size_t{1} << 20,
                               memory.size() - 4, memory.size() - 1})
    memory[at] ^= std::byte{0x10};
  EXPECT_EQ(count_mismatches(memory, 1, 0_B), 6u);
}

TEST(Pattern, is_compared_from_any_word_on) {
  std::vector<std::byte> memory(4096);
  fill_pattern(memory, 3);
  EXPECT_EQ(count_mismatches(std::span(memory).subspan(1024, 77), 3, 1_KiB), 0u);
  EXPECT_GT(count_mismatches(std::span(memory).subspan(1024, 77), 3, 0_B), 60u);
  EXPECT_GT(count_mismatches(std::span(memory).subspan(1024, 77), 4, 1_KiB), 60u);
  EXPECT_THROW(count_mismatches(memory, 3, 4_B), Error);
}

}  // namespace
}  // namespace shiplap
