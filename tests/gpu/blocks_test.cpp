// Scattered blocks on a real GPU: every mover against a plain loop on the host, every byte.
#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "shiplap/core/error.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using Kind = Mover::Kind;
using Image = std::vector<std::byte>;

/// Sizes in bytes.
struct BlockShape {
  std::uint64_t block, pitch;
  std::uint64_t pool_offset, packed_offset;  ///< of the regions in their buffers, which are aligned to 256 B
};

/// Multiples of 16, of 4 only, and odd: the kernel moves words of these sizes.
constexpr BlockShape block_shapes[] = {{16, 16, 0, 0}, {48, 64, 16, 32}, {1040, 1056, 0, 0}, {32, 32, 0, 4},
                                       {20, 28, 4, 4}, {64, 68, 0, 0},   {7, 9, 0, 0},       {1, 1, 0, 0},
                                       {48, 64, 1, 0}, {48, 64, 0, 3},   {516, 520, 8, 12}};
// 56, 960 and 8000 are the most indices of the three kinds of launches.
constexpr std::uint64_t block_counts[] = {1, 56, 57, 960, 961, 8000, 8001, 20'000};

std::vector<Mover> movers_of(bool regular) {
  std::vector<Mover> movers{{Kind::copies}, {Kind::batch}, {Kind::kernel, 1}, {Kind::kernel, 3}, {Kind::kernel, 132}};
  if (regular) movers.push_back({Kind::strided});
  return movers;
}

/// One list of blocks of a pool of pinned memory, and contiguous memory for all of them.
struct BlocksOnGpu : testing::OnGpu {
  std::mt19937 random{17};
  Schedule schedule;
  BlockShape shape{};
  std::uint64_t count = 0;
  std::uint64_t pool_blocks = 0;
  std::vector<std::uint32_t> indices;
  std::vector<Memory> memory;
  Image pool, packed;  ///< what the memory must hold

  /// Both buffers have bytes before and behind the regions that ops use.
  void begin(const BlockShape& wanted, std::uint64_t blocks, bool regular, bool on_gpu = true) {
    constexpr std::uint64_t behind = 40;
    shape = wanted;
    count = blocks;
    pool_blocks = regular ? blocks : blocks + blocks / 2 + 3;
    schedule = {};
    const Bytes pool_size{shape.pool_offset + pool_length() + behind};
    const Bytes packed_size{shape.packed_offset + blocks * shape.block + behind};
    schedule.add_buffer({"pool", Place::host(), MemoryKind::pinned, pool_size});
    schedule.add_buffer({"packed", on_gpu ? Place::gpu() : Place::host(),
                         on_gpu ? MemoryKind::device : MemoryKind::pinned, packed_size});
    schedule.add_list({.name = "pages",
                       .block = Bytes{shape.block},
                       .pitch = Bytes{shape.pitch},
                       .count = blocks,
                       .regular = regular});
    schedule.add_stream("one");
    schedule.add_stream("two");
    indices.resize(regular ? 0 : blocks);
    memory.clear();
    memory = testing::memory_for(*device, schedule);
    pool.resize(pool_size.count);
    packed.resize(packed_size.count);
    draw();
  }

  void add(const Mover& mover, bool gather, std::uint64_t first, std::uint64_t blocks, StreamId stream = {0}) {
    schedule.add(
        {.what =
             BlockCopy{.list = {0},
                       .first = first,
                       .count = blocks,
                       .gather = gather,
                       .pool = {{0}, Bytes{shape.pool_offset}, Bytes{pool_length()}},
                       .packed = {{1}, Bytes{shape.packed_offset + first * shape.block}, Bytes{blocks * shape.block}},
                       .mover = mover},
         .stream = stream,
         .after = {}});
  }

  std::unique_ptr<Execution> prepare() {
    Bindings bindings = testing::bindings_of(memory, {});
    bindings.lists = {indices};
    return device->prepare(schedule, bindings);
  }

  /// Other bytes, and other indices of which none comes twice.
  void draw() {
    for (Image* image : {&pool, &packed}) {
      const std::uint64_t seed = random();
      for (std::size_t i = 0; i < image->size(); ++i)
        (*image)[i] = static_cast<std::byte>(((i + seed) * 0x9e3779b97f4a7c15u) >> 56);
    }
    std::vector<std::uint32_t> all(pool_blocks);
    std::iota(all.begin(), all.end(), 0u);
    std::ranges::shuffle(all, random);
    std::copy_n(all.begin(), indices.size(), indices.begin());
    std::memcpy(memory[0].data(), pool.data(), pool.size());
    ASSERT_EQ(cudaMemcpy(memory[1].data(), packed.data(), packed.size(), cudaMemcpyDefault), cudaSuccess);
  }

  /// Moves the blocks of all ops in the images.
  void move_on_the_host() {
    for (const Op& op : schedule.ops) {
      const auto& blocks = std::get<BlockCopy>(op.what);
      for (std::uint64_t k = blocks.first; k < blocks.first + blocks.count; ++k) {
        const std::uint64_t index = indices.empty() ? k : indices[k];
        std::byte* there = pool.data() + shape.pool_offset + index * shape.pitch;
        std::byte* here = packed.data() + shape.packed_offset + k * shape.block;
        std::copy_n(blocks.gather ? there : here, shape.block, blocks.gather ? here : there);
      }
    }
  }

  void expect_images() const {
    Image found(packed.size());
    ASSERT_EQ(cudaMemcpy(found.data(), memory[1].data(), found.size(), cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(first_difference(found.data(), packed), -1) << "of contiguous memory";
    EXPECT_EQ(first_difference(memory[0].data(), pool), -1) << "of the pool";
  }

  void run_and_compare(const RunOptions& options = {}) {
    const auto execution = prepare();
    execution->run(options);
    move_on_the_host();
    expect_images();
  }

 private:
  std::uint64_t pool_length() const { return (pool_blocks - 1) * shape.pitch + shape.block; }
  static std::ptrdiff_t first_difference(const std::byte* found, const Image& expected) {
    if (std::memcmp(found, expected.data(), expected.size()) == 0) return -1;
    return std::mismatch(expected.begin(), expected.end(), found).first - expected.begin();
  }
};

TEST_F(BlocksOnGpu, are_moved_by_every_mover_whatever_their_size_alignment_and_number) {
  for (const BlockShape& one : block_shapes)
    for (const std::uint64_t n : block_counts) {
      begin(one, n, false);
      for (const Mover& mover : movers_of(false))
        for (const bool gather : {true, false}) {
          SCOPED_TRACE(to_string(mover) + (gather ? " gathers " : " scatters ") + std::to_string(n) + " blocks of " +
                       std::to_string(one.block) + " B at a pitch of " + std::to_string(one.pitch) + " B, pool + " +
                       std::to_string(one.pool_offset) + ", packed + " + std::to_string(one.packed_offset));
          schedule.ops.clear();
          draw();
          add(mover, gather, 0, n);
          run_and_compare();
          ASSERT_FALSE(HasFailure());
        }
    }
}

TEST_F(BlocksOnGpu, of_regular_lists_are_moved_from_any_position_on) {
  for (const BlockShape& one : {BlockShape{48, 64, 16, 32}, {20, 28, 4, 4}, {7, 9, 1, 3}, {64, 64, 0, 0}})
    for (const std::uint64_t n : {2u, 100u, 8001u, 20'000u}) {
      begin(one, n, true);
      for (const Mover& mover : movers_of(true))
        for (const bool gather : {true, false})
          for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1}, n / 2}) {
            SCOPED_TRACE(to_string(mover) + (gather ? " gathers " : " scatters ") + std::to_string(n - first) +
                         " blocks of " + std::to_string(one.block) + " B from " + std::to_string(first) + " on");
            schedule.ops.clear();
            draw();
            add(mover, gather, first, n - first);
            run_and_compare();
            ASSERT_FALSE(HasFailure());
          }
    }
}

TEST_F(BlocksOnGpu, may_be_gathered_twice) {
  begin({48, 64, 0, 0}, 1000, false);
  for (const Mover& mover : movers_of(false)) {
    schedule.ops.clear();
    draw();
    for (std::uint32_t& index : indices) index %= 7;
    add(mover, true, 0, count);
    run_and_compare();
  }
}

TEST_F(BlocksOnGpu, are_those_of_the_list_at_the_time_of_each_run) {
  for (const Mover& mover : movers_of(false))
    for (const bool gather : {true, false}) {
      SCOPED_TRACE(to_string(mover));
      begin({48, 64, 0, 0}, 8100, false);
      add(mover, gather, 100, count - 100);
      const auto execution = prepare();
      for (int run = 0; run < 4; ++run) {
        draw();
        execution->run();
        move_on_the_host();
        expect_images();
      }
    }
}

TEST_F(BlocksOnGpu, may_have_other_indices_as_soon_as_a_run_is_submitted) {
  for (const Mover& mover : movers_of(false)) {
    SCOPED_TRACE(to_string(mover));
    begin({2048, 2064, 0, 0}, 8100, false);
    add(mover, true, 0, count);
    const auto execution = prepare();
    move_on_the_host();
    execution->submit();
    std::ranges::fill(indices, 0u);
    execution->wait();
    expect_images();
  }
}

TEST_F(BlocksOnGpu, of_one_list_are_scattered_in_two_streams_at_the_same_time) {
  begin({48, 64, 16, 16}, 9000, false);
  for (const Mover& mover : movers_of(false)) {
    schedule.ops.clear();
    draw();
    add(mover, false, 0, 4000, {0});
    add(mover, false, 4000, 5000, {1});
    run_and_compare();
  }
}

TEST_F(BlocksOnGpu, are_the_same_when_the_run_is_held_or_traced) {
  begin({48, 64, 0, 0}, 500, false);
  for (const Mover& mover : movers_of(false))
    for (const RunOptions& options : {RunOptions{.hold = true}, RunOptions{.trace = Trace::events}}) {
      schedule.ops.clear();
      draw();
      add(mover, true, 0, count);
      run_and_compare(options);
    }
}

TEST_F(BlocksOnGpu, of_regular_lists_may_be_part_of_a_graph) {
  for (const Mover& mover : {Mover{Kind::strided}, Mover{Kind::kernel, 3}, Mover{Kind::copies}})
    for (const bool gather : {true, false}) {
      SCOPED_TRACE(to_string(mover));
      begin({48, 64, 0, 0}, 50, true);
      schedule.as_graph = true;
      add(mover, gather, 5, count - 5);
      const auto execution = prepare();
      for (int run = 0; run < 2; ++run) {
        draw();
        execution->run();
        move_on_the_host();
        expect_images();
      }
    }
}

TEST_F(BlocksOnGpu, are_moved_by_a_host_agent_without_a_stream) {
  for (const bool gather : {true, false}) {
    begin({7, 9, 1, 3}, 1000, false, false);
    add({}, gather, 10, count - 10, StreamId{});
    run_and_compare();
  }
}

TEST_F(BlocksOnGpu, with_an_index_outside_of_the_pool_are_refused_before_anything_moves) {
  for (const Mover& mover : movers_of(false))
    for (const bool gather : {true, false}) {
      begin({48, 64, 0, 0}, 100, false);
      add(mover, gather, 0, 50);
      add(mover, gather, 50, 50);
      const auto execution = prepare();
      const std::uint32_t good = std::exchange(indices[99], static_cast<std::uint32_t>(pool_blocks));
      EXPECT_THAT(message_of<UsageError>([&] { execution->run(); }),
                  ::testing::HasSubstr("list pages: index 153 at position 99 is outside of the pool"));
      expect_images();
      indices[99] = good;
      execution->run();
      move_on_the_host();
      expect_images();
    }
}

TEST_F(BlocksOnGpu, are_not_scattered_through_a_list_that_names_a_block_twice) {
  begin({48, 64, 0, 0}, 100, false);
  add({Kind::kernel, 1}, false, 0, 100);
  const auto execution = prepare();
  indices[70] = indices[3];
  EXPECT_THAT(message_of<UsageError>([&] { execution->run(); }), ::testing::HasSubstr("positions 3 and 70 both name"));
  expect_images();
}

int priority_of_stream = 1;  // no stream has it

TEST_F(BlocksOnGpu, are_moved_in_an_urgent_stream_of_the_highest_priority) {
  api.stream_create_with_priority = [](cudaStream_t* stream, unsigned flags, int priority) {
    priority_of_stream = priority;
    return cudaStreamCreateWithPriority(stream, flags, priority);
  };
  int lowest = 0;
  int highest = 0;
  ASSERT_EQ(cudaDeviceGetStreamPriorityRange(&lowest, &highest), cudaSuccess);
  begin({48, 64, 0, 0}, 1000, false);
  schedule.streams[0].urgent = true;
  add({Kind::kernel, 2}, true, 0, count);
  run_and_compare();
  EXPECT_EQ(priority_of_stream, highest);
}

}  // namespace
}  // namespace shiplap
