// Moves of blocks in a stream of the caller on a real GPU: every mover brings the right bytes, also from a graph.
#include "shiplap/pipeline/move.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/move_blocks.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"
#include "tests/support/planted_blocks.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

struct MoveOnGpu : testing::OnGpu {
  static constexpr std::uint64_t pool_blocks = 300;

  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped()) return;
    stream = make_stream(api, "a test");
    pool = device->allocate(Place::host(), MemoryKind::pinned, 64_MiB);
    packed = device->allocate(Place::gpu(), MemoryKind::device, 64_MiB);
    for (std::size_t i = 0; i < pool.size().count; ++i) pool.data()[i] = static_cast<std::byte>(i * 2654435761u >> 13);
    for (std::uint32_t k = 0; k < 200; ++k) index.push_back(k * 77 % pool_blocks);  // each once: 77 and 300 are coprime
  }
  void synchronize() { ASSERT_EQ(api.stream_synchronize(stream.get()), cudaSuccess); }

  /// Number of blocks of the packed memory that differ from the pool's blocks that the list names.
  std::size_t wrong_blocks(Bytes block, Bytes pitch) {
    std::vector<std::byte> got(block.count * index.size());
    EXPECT_EQ(api.memcpy_async(got.data(), packed.data(), got.size(), cudaMemcpyDeviceToHost, stream.get()),
              cudaSuccess);
    synchronize();
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < index.size(); ++k)
      wrong += std::memcmp(got.data() + k * block.count, pool.data() + index[k] * pitch.count, block.count) != 0;
    return wrong;
  }

  StreamHandle stream;
  Memory pool;
  Memory packed;
  std::vector<std::uint32_t> index;
  const std::vector<Mover> movers{{.kind = Mover::Kind::copies},
                                  {.kind = Mover::Kind::batch},
                                  {.kind = Mover::Kind::kernel, .grid = 1},
                                  {.kind = Mover::Kind::kernel, .grid = 32}};
};

TEST_F(MoveOnGpu, every_mover_brings_the_blocks_of_any_size_and_brings_them_back) {
  for (const auto& [block, pitch] :
       std::vector<std::pair<Bytes, Bytes>>{{5_B, 7_B}, {400_B, 512_B}, {4_KiB, 4_KiB}, {Bytes{65'540}, 128_KiB}})
    for (const Mover& mover : movers) {
      const BlockMove gather{.pool = pool.data(),
                             .packed = packed.data(),
                             .indices = index.data(),
                             .count = index.size(),
                             .block = block,
                             .pitch = pitch};
      device->move_blocks(gather, {&mover, 1}, stream.get());
      EXPECT_EQ(wrong_blocks(block, pitch), 0u) << to_string(mover) << ", " << to_string(block);
      std::vector<std::byte> before(pool.bytes().begin(), pool.bytes().end());
      for (const std::uint32_t i : index) std::memset(pool.data() + i * pitch.count, 0, block.count);
      BlockMove scatter = gather;
      scatter.gather = false;
      device->move_blocks(scatter, {&mover, 1}, stream.get());
      synchronize();
      EXPECT_TRUE(std::equal(before.begin(), before.end(), pool.bytes().begin()))
          << to_string(mover) << ", " << to_string(block);
    }
}

TEST_F(MoveOnGpu, the_list_may_change_as_soon_as_the_call_has_returned) {
  const Node node = node_of(*device, planted_profile());
  const std::vector<std::uint32_t> named = index;
  for (const Bytes block : {512_B, 128_KiB}) {
    index = named;
    move(node, BlockPool<std::byte>{pool.bytes(), block}, index, packed.data(), stream.get());
    index.assign(index.size(), 0);
    index = named;
    EXPECT_EQ(wrong_blocks(block, block), 0u);
  }
}

TEST_F(MoveOnGpu, a_captured_move_uses_no_batch_and_moves_the_blocks_when_the_graph_runs) {
  Profile profile = planted_profile();
  profile.links[0].blocks = with_planted_waits(planted_blocks());
  for (MutualSlowdown& row : profile.links[0].blocks->beside_gather)
    if (row.grid > 0) row.memory = Interval<double>::exact(0.5);
  const Node node = node_of(*device, profile);
  // The planted batch is the fastest of the movers that cost a kernel at most 3 %.
  const MoverLimits limits{.max_slowdown = 0.03};
  const BlockPool<std::byte> blocks{pool.bytes(), 128_KiB};
  ASSERT_EQ(move(node, blocks, index, packed.data(), stream.get(), limits).kind, Mover::Kind::batch);
  ASSERT_EQ(api.stream_begin_capture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
  const Mover captured = move(node, blocks, index, packed.data(), stream.get(), limits);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(api.stream_end_capture(stream.get(), &graph), cudaSuccess);
  const Graph owned(graph, Graph::deleter_type(api));
  EXPECT_NE(captured.kind, Mover::Kind::batch);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(api.graph_instantiate(&executable, graph, 0), cudaSuccess);
  const ExecutableGraph also_owned(executable, ExecutableGraph::deleter_type(api));
  for (std::size_t i = 0; i < pool.size().count; ++i) pool.data()[i] = static_cast<std::byte>(i * 40503u >> 7);
  ASSERT_EQ(api.graph_launch(executable, stream.get()), cudaSuccess);
  EXPECT_EQ(wrong_blocks(128_KiB, 128_KiB), 0u);
}

TEST_F(MoveOnGpu, the_default_stream_is_accepted) {
  const Node node = node_of(*device, planted_profile());
  EXPECT_NE(move(node, BlockPool<std::byte>{pool.bytes(), 128_KiB}, index, packed.data(), nullptr).kind,
            Mover::Kind::batch);
  ASSERT_EQ(api.stream_synchronize(nullptr), cudaSuccess);
  EXPECT_EQ(wrong_blocks(128_KiB, 128_KiB), 0u);
}

}  // namespace
}  // namespace shiplap
