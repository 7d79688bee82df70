#include "recorder/sampled_hash.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <set>
#include <vector>

namespace shiplap::recorder {
namespace {

std::vector<unsigned char> random_bytes(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<unsigned char> bytes(size);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}
std::uint64_t hash(const std::vector<unsigned char>& bytes) { return sampled_hash(bytes.data(), bytes.size()); }

TEST(SampledHash, is_the_same_for_the_same_bytes_wherever_they_are) {
  for (const std::size_t size : {1, 7, 64, 4096, 4097, 1'000'003}) {
    const std::vector<unsigned char> bytes = random_bytes(size);
    std::vector<unsigned char> shifted(size + 5);
    std::memcpy(shifted.data() + 5, bytes.data(), size);
    EXPECT_EQ(hash(bytes), hash(bytes)) << size;
    EXPECT_EQ(hash(bytes), sampled_hash(shifted.data() + 5, size)) << size;
  }
}

TEST(SampledHash, reads_all_bytes_of_a_small_array) {
  for (const std::size_t size : {1, 63, 1000, 4096}) {
    std::vector<unsigned char> bytes = random_bytes(size);
    std::set<std::uint64_t> hashes{hash(bytes)};
    for (unsigned char& byte : bytes) {
      byte ^= 16;
      hashes.insert(hash(bytes));
      byte ^= 16;
    }
    EXPECT_EQ(hashes.size(), size + 1);
  }
}

TEST(SampledHash, reads_64_lines_of_a_large_array_from_the_first_to_the_last) {
  constexpr std::size_t distance = 8192;
  std::vector<unsigned char> bytes = random_bytes(63 * distance + 64);
  std::set<std::uint64_t> hashes{hash(bytes)};
  for (std::size_t line = 0; line < 64; ++line)
    for (const std::size_t place : {0, 31, 63}) {
      bytes[line * distance + place] ^= 1;
      hashes.insert(hash(bytes));
      bytes[line * distance + place] ^= 1;
    }
  EXPECT_EQ(hashes.size(), 64u * 3 + 1);
  bytes[64] ^= 1;  // stands between two lines
  EXPECT_TRUE(hashes.contains(hash(bytes)));
}

TEST(SampledHash, reads_the_last_line_of_an_array_of_any_size) {
  for (const std::size_t size : {4097, 5000, 99'991}) {
    std::vector<unsigned char> bytes = random_bytes(size);
    const std::uint64_t before = hash(bytes);
    bytes.back() ^= 128;
    EXPECT_NE(hash(bytes), before) << size;
  }
}

TEST(SampledHash, differs_for_zeros_of_different_sizes) {
  std::set<std::uint64_t> hashes;
  for (const std::size_t size : {1, 8, 64, 4096, 8192, 1'000'000})
    hashes.insert(hash(std::vector<unsigned char>(size)));
  EXPECT_EQ(hashes.size(), 6u);
}

TEST(SampledHash, is_0_for_memory_that_cannot_be_read) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const bytes = static_cast<unsigned char*>(memory);
  EXPECT_NE(sampled_hash(bytes, 4 * page), 0u);
  ASSERT_EQ(mprotect(bytes + 3 * page, page, PROT_NONE), 0);
  EXPECT_EQ(sampled_hash(bytes, 4 * page), 0u);  // a part of it can be read
  EXPECT_EQ(sampled_hash(bytes + 3 * page, 100), 0u);
  EXPECT_NE(sampled_hash(bytes, 3 * page), 0u);
  munmap(memory, 4 * page);
  EXPECT_EQ(sampled_hash(nullptr, 100), 0u);
  EXPECT_EQ(sampled_hash(nullptr, 1 << 20), 0u);
}

TEST(SampledHash, is_never_0_for_memory_that_can_be_read) {
  // FNV-1a begins with this number. A word that equals it, with the size of 8 bytes, makes the sum 0.
  const std::uint64_t word = 0xcbf29ce484222325 ^ 8;
  EXPECT_NE(sampled_hash(&word, sizeof word), 0u);
  for (unsigned seed = 0; seed < 1000; ++seed) EXPECT_NE(hash(random_bytes(1 + seed, seed)), 0u);
}

TEST(SampledHash, of_no_bytes_is_0) {
  const char byte = 1;
  EXPECT_EQ(sampled_hash(&byte, 0), 0u);
}

}  // namespace
}  // namespace shiplap::recorder
