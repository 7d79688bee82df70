// Which calls move blocks in a stream of the caller, without a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/block_movers.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using testing::fake_api;
using testing::fake_cuda;
using ::testing::HasSubstr;

class BlockCallsFake : public ::testing::Test {
 protected:
  static constexpr std::size_t block = 4;

  void SetUp() override {
    std::iota(pool.begin(), pool.end(), 0);
    ASSERT_EQ(api.stream_create_with_flags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  void TearDown() override { static_cast<void>(api.stream_destroy(stream)); }

  BlockMove gather() {
    return {.pool = reinterpret_cast<std::byte*>(pool.data()),
            .packed = reinterpret_cast<std::byte*>(packed.data()),
            .indices = index.data(),
            .count = index.size(),
            .block = Bytes{block},
            .pitch = Bytes{block}};
  }
  Mover move(cudaStream_t in) { return move_by_first_of(api, gather(), movers, in); }

  Api api = fake_api();
  cudaStream_t stream = nullptr;
  std::vector<unsigned char> pool = std::vector<unsigned char>(64);
  std::vector<unsigned char> packed = std::vector<unsigned char>(64, 255);
  std::vector<std::uint32_t> index{3, 1};
  std::vector<Mover> movers{{.kind = Mover::Kind::batch}, {.kind = Mover::Kind::kernel, .grid = 4}};
};

TEST_F(BlockCallsFake, a_batch_moves_the_blocks_in_one_call) {
  EXPECT_EQ(move(stream), movers[0]);
  EXPECT_EQ(fake_cuda().batches, std::vector<std::size_t>{2});
  EXPECT_EQ(std::vector(packed.begin(), packed.begin() + 9),
            (std::vector<unsigned char>{12, 13, 14, 15, 4, 5, 6, 7, 255}));
}

TEST_F(BlockCallsFake, a_larger_batch_after_a_smaller_one_moves_all_blocks) {
  move(stream);
  index = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  move(stream);
  EXPECT_EQ(packed, pool);
}

TEST_F(BlockCallsFake, a_stream_that_is_captured_and_the_default_stream_get_the_next_mover) {
  EXPECT_EQ(move(nullptr), movers[1]);
  EXPECT_EQ(move(cudaStreamLegacy), movers[1]);
  ASSERT_EQ(api.stream_begin_capture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(move(stream), movers[1]);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(api.stream_end_capture(stream, &graph), cudaSuccess);
  static_cast<void>(api.graph_destroy(graph));
  EXPECT_EQ(fake_cuda().count("launch_kernel"), 3u);
  EXPECT_TRUE(fake_cuda().batches.empty());
}

TEST_F(BlockCallsFake, a_stream_that_accepts_no_mover_is_refused_and_nothing_is_enqueued) {
  movers.resize(1);
  EXPECT_THAT(message_of<Unsupported>([&] { move(nullptr); }), HasSubstr("give a stream of your own"));
  EXPECT_EQ(fake_cuda().count("memcpy_batch_async"), 0u);
}

TEST_F(BlockCallsFake, a_call_that_fails_is_named) {
  for (const auto& [kind, name] : std::vector<std::pair<Mover::Kind, const char*>>{
           {Mover::Kind::copies, "memcpy_async"}, {Mover::Kind::batch, "memcpy_batch_async"}}) {
    movers = {{.kind = kind}};
    fake_cuda().fail(0, cudaErrorInvalidValue, name);
    EXPECT_THAT(message_of([&] { move(stream); }),
                HasSubstr(kind == Mover::Kind::copies ? "cudaMemcpyAsync" : "cudaMemcpyBatchAsync"));
  }
}

}  // namespace
}  // namespace shiplap
