// The calls by which blocks move: how many, and with which arguments. Needs no GPU: every call is faked.
#include "shiplap/device/cuda/block_movers.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "shiplap/device/cuda/handles.hpp"
#include "tests/device/cuda/fake_api.hpp"

namespace shiplap {
namespace {

using testing::fake_api;
using testing::fake_cuda;

struct RecordedLaunch {
  const void* kernel;
  unsigned grid, threads;
};
std::vector<RecordedLaunch> recorded_launches;

/// Blocks at addresses that nothing accesses, because launches are only recorded.
struct Launched {
  Api api = fake_api();
  std::vector<std::uint32_t> indices;
  BlockMove move;

  Launched(std::uint64_t count, std::uint64_t block, std::uint64_t pitch, bool regular = false)
      : indices(regular ? 0 : count) {
    std::iota(indices.begin(), indices.end(), 0u);
    move = {.pool = reinterpret_cast<std::byte*>(0x1000),
            .packed = reinterpret_cast<std::byte*>(0x2000),
            .indices = regular ? nullptr : indices.data(),
            .first = 0,
            .count = count,
            .block = Bytes{block},
            .pitch = Bytes{pitch},
            .gather = true};
    api.launch_kernel = [](const void* kernel, dim3 grid, dim3 threads, void**, std::size_t, cudaStream_t) {
      recorded_launches.push_back({kernel, grid.x, threads.x});
      return cudaSuccess;
    };
  }
  std::vector<RecordedLaunch> by_kernel(std::uint32_t grid = 3) {
    recorded_launches.clear();
    EXPECT_EQ(move_by_kernel(api, move, grid, nullptr), cudaSuccess);
    return recorded_launches;
  }
};

TEST(BlockMoverKernel, is_launched_once_for_each_8000_indices) {
#if CUDART_VERSION >= 12010
  for (const auto& [count, launches] : {std::pair{1u, 1u}, {8000u, 1u}, {8001u, 2u}, {16'000u, 2u}, {20'000u, 3u}}) {
#else
  for (const auto& [count, launches] : {std::pair{1u, 1u}, {960u, 1u}, {961u, 2u}, {20'000u, 21u}}) {
#endif
    EXPECT_EQ(Launched(count, 64, 64).by_kernel().size(), launches) << count;
    EXPECT_EQ(Launched(count, 64, 64, true).by_kernel().size(), 1u) << "a regular list has no indices";
  }
}

TEST(BlockMoverKernel, has_the_grid_asked_for) {
  for (const std::uint32_t grid : {1u, 3u, 132u})
    for (const RecordedLaunch& one : Launched(20'000, 64, 64).by_kernel(grid)) {
      EXPECT_EQ(one.grid, grid);
      EXPECT_EQ(one.threads, mover_threads);
    }
}

TEST(BlockMoverKernel, is_another_one_for_each_width_direction_and_number_of_indices) {
  std::set<const void*> kernels;
  for (const std::uint64_t block : {64u, 68u, 63u})
    for (const bool gather : {true, false}) {
      for (const std::uint64_t count : {56u, 960u, 8000u}) {
        Launched launched(count, block, block);
        launched.move.gather = gather;
        kernels.insert(launched.by_kernel()[0].kernel);
      }
      Launched regular(100, block, block, true);
      regular.move.gather = gather;
      kernels.insert(regular.by_kernel()[0].kernel);
    }
  EXPECT_EQ(kernels.size(), 3u * 2u * 4u);
}

TEST(BlockMoverKernel, moves_words_that_block_pitch_and_both_addresses_are_multiples_of) {
  const auto kernel = [](std::uint64_t block, std::uint64_t pitch, int pool, int packed) {
    Launched launched(10, block, pitch);
    launched.move.pool += pool;
    launched.move.packed += packed;
    return launched.by_kernel()[0].kernel;
  };
  const void* const by_16 = kernel(64, 64, 0, 0);
  const void* const by_4 = kernel(68, 68, 0, 0);
  const void* const by_1 = kernel(63, 63, 0, 0);
  EXPECT_EQ(kernel(16, 48, 32, 16), by_16);
  EXPECT_EQ(kernel(64, 68, 0, 0), by_4);
  EXPECT_EQ(kernel(64, 64, 8, 0), by_4);
  EXPECT_EQ(kernel(64, 64, 0, 4), by_4);
  EXPECT_EQ(kernel(64, 65, 0, 0), by_1);
  EXPECT_EQ(kernel(64, 64, 2, 0), by_1);
  EXPECT_EQ(kernel(64, 64, 0, 1), by_1);
}

// A thread counts the words of a launch in 32 bits.
TEST(BlockMoverKernel, is_launched_several_times_when_blocks_have_more_than_four_billion_words_together) {
  constexpr std::uint64_t odd = (1ull << 30) - 1;
  EXPECT_EQ(Launched(4, odd, odd).by_kernel().size(), 1u);
  EXPECT_EQ(Launched(5, odd, odd).by_kernel().size(), 2u);
  EXPECT_EQ(Launched(9, odd, odd, true).by_kernel().size(), 3u);
}

/// Blocks of memory of the test.
struct Moved {
  std::vector<std::byte> pool = std::vector<std::byte>(40);
  std::vector<std::byte> packed = std::vector<std::byte>(12);
  std::vector<std::uint32_t> indices{3, 0, 2};
  BlockMove move{.pool = pool.data(),
                 .packed = packed.data(),
                 .indices = indices.data(),
                 .first = 0,
                 .count = 3,
                 .block = 4_B,
                 .pitch = 10_B,
                 .gather = true};
  Moved() {
    for (std::size_t i = 0; i < pool.size(); ++i) pool[i] = static_cast<std::byte>(i);
  }
  std::vector<int> gathered() const {
    std::vector<int> values;
    for (const std::byte byte : packed) values.push_back(static_cast<int>(byte));
    return values;
  }
};
const std::vector<int> blocks_3_0_2{30, 31, 32, 33, 0, 1, 2, 3, 20, 21, 22, 23};

TEST(BlockMovers, by_copies_make_one_call_for_each_block_and_return_the_first_error) {
  const Api api = fake_api();
  Moved moved;
  EXPECT_EQ(move_by_copies(api, moved.move, nullptr), cudaSuccess);
  EXPECT_EQ(fake_cuda().count("memcpy_async"), 3u);
  EXPECT_EQ(moved.gathered(), blocks_3_0_2);
  fake_cuda().fail(1, cudaErrorInvalidValue, "memcpy_async");
  EXPECT_EQ(move_by_copies(api, moved.move, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(fake_cuda().count("memcpy_async"), 5u) << "none after the one that failed";
}

TEST(BlockMovers, by_a_batch_make_one_call_for_all_blocks) {
  const Api api = fake_api();
  Moved moved;
  BatchArrays arrays(3);
  const StreamHandle stream = make_stream(api, "a batch");  // no batch is for the default stream
  EXPECT_EQ(move_by_batch(api, moved.move, arrays, stream.get()), cudaSuccess);
  EXPECT_EQ(api.stream_synchronize(stream.get()), cudaSuccess);
  EXPECT_EQ(fake_cuda().batches, std::vector<std::size_t>{3});
  EXPECT_EQ(moved.gathered(), blocks_3_0_2);
}

TEST(BlockMovers, by_a_strided_copy_make_one_call_from_the_first_position_on) {
  const Api api = fake_api();
  Moved moved;
  moved.move.indices = nullptr;
  moved.move.first = 1;
  EXPECT_EQ(move_by_strided_copy(api, moved.move, nullptr), cudaSuccess);
  EXPECT_EQ(fake_cuda().count("memcpy_2d_async"), 1u);
  EXPECT_EQ(moved.gathered(), (std::vector<int>{10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33}));
}

}  // namespace
}  // namespace shiplap
