// The kernel that moves blocks, of the library and of emitted programs, compiled for the host: its threads run one
// after the other, and every byte is checked.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

// What the CUDA language has and C++ has not.
#undef __global__
#undef __device__
#undef __launch_bounds__
#undef __grid_constant__
#define __global__
#define __device__
#define __launch_bounds__(threads)
#define __grid_constant__

namespace shiplap {
namespace {

struct {
  std::uint32_t x;
} blockIdx, threadIdx, gridDim, blockDim;

/// An access of a thread to memory.
struct MemoryAccess {
  bool written = false;
  const void* word = nullptr;
  friend bool operator==(const MemoryAccess&, const MemoryAccess&) = default;
};
std::vector<MemoryAccess>* accesses = nullptr;  // null: not recorded

template <class T>
T __ldcs(const T* word) {
  if (accesses != nullptr) accesses->push_back({false, word});
  return *word;
}
template <class T>
void __stcs(T* word, T value) {
  if (accesses != nullptr) accesses->push_back({true, word});
  *word = value;
}

}  // namespace
}  // namespace shiplap

#include "shiplap/device/cuda/move_words.cuh"

namespace shiplap {
namespace {

using namespace kernels;

constexpr std::uint32_t grid = 3;

/// Pools of random bytes, blocks of them and contiguous memory, in words of type T.
template <class T>
struct Memory {
  std::uint32_t block;
  std::uint64_t pitch;
  std::vector<std::uint32_t> indices;
  std::vector<T> pool, packed;

  Memory(std::uint32_t words, std::uint64_t distance, std::size_t count, std::size_t pool_blocks)
      : block(words),
        pitch(distance),
        indices(pool_blocks),
        pool(pool_blocks * distance + 5),
        packed(count * words + 5) {
    std::mt19937 random(1);
    for (std::vector<T>* memory : {&pool, &packed})
      for (std::size_t i = 0; i < memory->size() * sizeof(T); ++i)
        reinterpret_cast<unsigned char*>(memory->data())[i] = static_cast<unsigned char>(random());
    std::iota(indices.begin(), indices.end(), 0u);
    std::shuffle(indices.begin(), indices.end(), random);
    indices.resize(count);
  }
  T* in_pool(std::size_t k) { return pool.data() + indices[k] * pitch; }
  T* in_packed(std::size_t k) { return packed.data() + k * block; }

  /// Moves the blocks as the kernel should.
  void expect(Way way) {
    for (std::size_t k = 0; k < indices.size(); ++k)
      std::memcpy(way == Way::gather ? in_packed(k) : in_pool(k), way == Way::gather ? in_pool(k) : in_packed(k),
                  block * sizeof(T));
  }
  bool operator==(const Memory& other) const {
    return std::memcmp(pool.data(), other.pool.data(), pool.size() * sizeof(T)) == 0 &&
           std::memcmp(packed.data(), other.packed.data(), packed.size() * sizeof(T)) == 0;
  }
};

/// Runs all threads of a launch.
template <class T, unsigned capacity, Way way>
void launch(Memory<T>& memory, const Indices<capacity>& indices) {
  const Shape<T> shape{memory.pool.data(), memory.packed.data(), memory.pitch, memory.block,
                       static_cast<std::uint32_t>(memory.block * memory.indices.size())};
  gridDim.x = grid, blockDim.x = mover_threads;
  for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < mover_threads; ++threadIdx.x) move_words<T, capacity, way>(shape, indices);
}

template <class T, Way way>
void expect_every_byte(std::uint32_t block, std::uint64_t pitch, std::size_t count) {
  constexpr unsigned capacity = 960;
  Memory<T> memory(block, pitch, count, count + 20);
  Memory<T> expected = memory;
  expected.expect(way);
  ASSERT_FALSE(memory == expected) << "nothing to do";
  Indices<capacity> indices;
  std::copy(memory.indices.begin(), memory.indices.end(), indices.index);
  launch<T, capacity, way>(memory, indices);
  EXPECT_TRUE(memory == expected) << sizeof(T) << " bytes a word, blocks of " << block << " words at " << pitch;
}

template <class T>
class MoverKernel : public ::testing::Test {};
using Words = ::testing::Types<uint4, unsigned, unsigned char>;
TYPED_TEST_SUITE(MoverKernel, Words);

TYPED_TEST(MoverKernel, moves_every_byte_of_the_blocks_and_no_other) {
  for (const std::uint32_t block : {1u, 5u, 64u, 700u})
    for (const std::uint64_t gap : {0u, 3u})
      for (const std::size_t count : {1u, 17u, 900u}) {
        expect_every_byte<TypeParam, Way::gather>(block, block + gap, count);
        expect_every_byte<TypeParam, Way::scatter>(block, block + gap, count);
      }
}

TYPED_TEST(MoverKernel, moves_blocks_at_equal_distances_from_the_first_on) {
  constexpr std::uint64_t first = 7;
  Memory<TypeParam> memory(6, 9, 100, 120);
  std::iota(memory.indices.begin(), memory.indices.end(), static_cast<std::uint32_t>(first));
  Memory<TypeParam> expected = memory;
  expected.expect(Way::gather);
  launch<TypeParam, 0, Way::gather>(memory, Indices<0>{first});
  EXPECT_TRUE(memory == expected);
}

TEST(MoverKernelOnHost, lets_consecutive_threads_move_consecutive_words_and_each_read_8_before_it_writes) {
  Memory<unsigned> memory(64, 64, 400, 400);
  std::iota(memory.indices.begin(), memory.indices.end(), 0u);
  const Shape<unsigned> shape{memory.pool.data(), memory.packed.data(), 64, 64, 64 * 400};
  gridDim.x = grid, blockDim.x = mover_threads;
  for (const std::uint32_t thread : {0u, 1u, 511u}) {
    blockIdx.x = 1, threadIdx.x = thread;
    std::vector<MemoryAccess> seen, expected;
    accesses = &seen;
    move_words<unsigned, 0, Way::gather>(shape, Indices<0>{0});
    accesses = nullptr;
    const auto word = [&](std::size_t i) { return 512 + thread + i * grid * 512; };
    for (std::size_t i = 0; i < 8; ++i) expected.push_back({false, memory.pool.data() + word(i)});
    for (std::size_t i = 0; i < 8; ++i) expected.push_back({true, memory.packed.data() + word(i)});
    ASSERT_GE(seen.size(), 16u);
    seen.resize(16);
    EXPECT_EQ(seen, expected) << "thread " << thread;
  }
}

TEST(MoverKernelOnHost, has_thread_blocks_of_512_threads) { EXPECT_EQ(mover_threads, 512u); }

}  // namespace
}  // namespace shiplap
