#include "shiplap/pipeline/move.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/move_blocks.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_blocks.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A simulated device that records with which movers blocks are moved.
class RecordsMovers : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  MemoryKind kind_of(const std::byte* data, Bytes size) const override {
    return const_cast<RecordsMovers*>(this)->inner().kind_of(data, size);
  }
  Memory pin(std::byte* data, Bytes size) override { return inner().pin(data, size); }
  Mover move_blocks(const BlockMove& move, std::span<const Mover> movers, void* stream) override {
    tried.assign(movers.begin(), movers.end());
    streams.push_back(stream);
    return inner().move_blocks(move, movers, stream);
  }

  std::vector<Mover> tried;
  std::vector<void*> streams;
};

class Move : public ::testing::Test {
 protected:
  static constexpr std::uint64_t pool_blocks = 64;
  static constexpr Bytes block = 4_KiB;

  RecordsMovers device{open_virtual(planted_profile(), "virtual:planted")};
  Memory pool = device.allocate(Place::host(), MemoryKind::pinned, block* pool_blocks);
  Memory packed = device.allocate(Place::gpu(), MemoryKind::device, block* pool_blocks);

  void SetUp() override {
    for (std::uint64_t b = 0; b < pool_blocks; ++b)
      std::memset(pool.data() + b * block.count, static_cast<int>(b + 1), block.count);
  }
  BlockPool<std::byte> blocks() const { return {pool.bytes(), block}; }
  /// The number of the pool's block whose bytes are at position `k` of the packed memory, plus 1; 0 for other bytes.
  static int block_at(const Memory& memory, std::uint64_t k) {
    const auto bytes = memory.bytes().subspan(k * block.count, block.count);
    const bool same = std::ranges::all_of(bytes, [&](std::byte b) { return b == bytes.front(); });
    return same ? std::to_integer<int>(bytes.front()) : 0;
  }

  Node node = node_of(device, planted_profile());
  std::vector<std::uint32_t> index{7, 0, 63, 7};
};

TEST_F(Move, brings_the_blocks_that_the_list_names_in_their_order) {
  move(node, blocks(), index, packed.data(), nullptr);
  EXPECT_THAT((std::vector{block_at(packed, 0), block_at(packed, 1), block_at(packed, 2), block_at(packed, 3)}),
              ElementsAre(8, 1, 64, 8));
  EXPECT_EQ(block_at(packed, 4), 0) << "nothing else is written";
}

TEST_F(Move, back_writes_the_blocks_that_the_list_names_and_no_others) {
  for (int k = 0; k < 3; ++k) std::memset(packed.data() + k * block.count, 100 + k, block.count);
  index = {5, 63, 0};
  move_back(node, blocks(), index, packed.data(), nullptr);
  for (std::uint64_t b = 0; b < pool_blocks; ++b) {
    const int expected = b == 5 ? 100 : b == 63 ? 101 : b == 0 ? 102 : static_cast<int>(b + 1);
    EXPECT_EQ(block_at(pool, b), expected) << b;
  }
}

TEST_F(Move, takes_rows_of_elements_with_a_pitch) {
  std::vector<float> rows(8 * 16);
  std::iota(rows.begin(), rows.end(), 0.0f);
  const Memory pinned = device.pin(reinterpret_cast<std::byte*>(rows.data()), Bytes{rows.size() * sizeof(float)});
  index = {6, 1};
  const std::vector<float>& read_only = rows;
  move(node, BlockPool{read_only, 12_B, 64_B}, index, packed.data(), nullptr);
  std::vector<float> got(6);
  std::memcpy(got.data(), packed.data(), 24);
  EXPECT_THAT(got, ElementsAre(96, 97, 98, 16, 17, 18));
}

TEST_F(Move, the_list_may_change_when_the_call_has_returned) {
  move(node, blocks(), index, packed.data(), nullptr);
  std::ranges::fill(index, 1u);
  EXPECT_EQ(block_at(packed, 2), 64);
}

TEST_F(Move, an_index_outside_of_the_pool_is_named_with_its_position_and_nothing_moves) {
  index = {3, 64, 70};
  for (const auto& call :
       std::vector<std::function<void()>>{[&] { move(node, blocks(), index, packed.data(), nullptr); },
                                          [&] { move_back(node, blocks(), index, packed.data(), nullptr); }})
    EXPECT_THAT(message_of<UsageError>(call),
                HasSubstr("index 64 at position 1 is outside of the pool, which has blocks 0 to 63"));
  EXPECT_TRUE(device.streams.empty());
}

TEST_F(Move, back_refuses_a_list_that_names_a_block_twice_and_goes_on_afterwards) {
  EXPECT_THAT(message_of<UsageError>([&] { move_back(node, blocks(), index, packed.data(), nullptr); }),
              HasSubstr("positions 0 and 3 both name block 7"));
  EXPECT_TRUE(device.streams.empty());
  index = {7, 0};
  EXPECT_NO_THROW(move_back(node, blocks(), index, packed.data(), nullptr));
}

TEST_F(Move, sizes_and_pointers_that_cannot_be_are_refused) {
  const auto with = [&](Bytes size, Bytes pitch, void* to) {
    return [=, this] { move(node, BlockPool<std::byte>{pool.bytes(), size, pitch}, index, to, nullptr); };
  };
  EXPECT_THAT(message_of<UsageError>(with(0_B, 0_B, packed.data())), HasSubstr("a size of 0"));
  EXPECT_THAT(message_of<UsageError>(with(64_B, 32_B, packed.data())), HasSubstr("overlap"));
  EXPECT_THAT(message_of<UsageError>(with(1_MiB, 0_B, packed.data())), HasSubstr("has no block of 1 MiB"));
  EXPECT_THAT(message_of<UsageError>(with(block, 0_B, nullptr)), HasSubstr("null"));
  const Node planned = node_of(planted_profile());
  EXPECT_THAT(message_of<UsageError>([&] { move(planned, blocks(), index, packed.data(), nullptr); }),
              HasSubstr("no device"));
}

TEST_F(Move, an_empty_list_moves_nothing) {
  move(node, blocks(), {}, nullptr, nullptr);
  EXPECT_TRUE(device.streams.empty());
}

TEST_F(Move, is_by_the_best_mover_of_the_profile_in_the_stream_of_the_caller) {
  int stream = 0;
  const Mover used = move(node, blocks(), index, packed.data(), &stream);
  const Mover best = choose_mover(planted_profile(), 0, 0, {.block = block, .blocks = 4}).best.mover;
  EXPECT_EQ(used, best);
  EXPECT_EQ(best.kind, Mover::Kind::kernel) << "the planted kernel is faster for 4 blocks of 4 KiB";
  EXPECT_THAT(device.tried, ElementsAre(best));
  EXPECT_THAT(device.streams, ElementsAre(&stream));
}

TEST_F(Move, names_another_mover_for_streams_that_accept_no_batch) {
  // 64 blocks of 512 KiB: the planted batch is the fastest in both directions.
  const Memory long_pool = device.allocate(Place::host(), MemoryKind::pinned, 32_MiB);
  const Memory there = device.allocate(Place::gpu(), MemoryKind::device, 32_MiB);
  index.resize(64);
  std::iota(index.begin(), index.end(), 0u);
  move(node, BlockPool<std::byte>{long_pool.bytes(), 512_KiB}, index, there.data(), nullptr);
  ASSERT_EQ(device.tried.size(), 2u);
  EXPECT_EQ(device.tried[0].kind, Mover::Kind::batch);
  EXPECT_NE(device.tried[1].kind, Mover::Kind::batch);
}

TEST_F(Move, keeps_the_limit_on_what_a_neighbour_loses) {
  Profile profile = planted_profile();
  profile.links[0].blocks = with_planted_waits(planted_blocks());
  for (MutualSlowdown& row : profile.links[0].blocks->beside_gather)
    if (row.grid > 0) row.memory = Interval<double>::exact(0.5);
  const Node limited = node_of(device, profile);
  const MoverLimits limits{.max_slowdown = 0.03};
  EXPECT_EQ(move(limited, blocks(), index, packed.data(), nullptr, limits).kind, Mover::Kind::batch);
  EXPECT_EQ(move(limited, blocks(), index, packed.data(), nullptr).kind, Mover::Kind::kernel);
}

TEST_F(Move, two_nodes_of_a_thread_have_choices_of_their_own) {
  Profile profile = planted_profile();
  for (const char* name : {"kernel pinned h2d", "batch pinned h2d"}) profile.links[0].blocks->movers.erase(name);
  const Node only_copies = node_of(device, profile);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(move(only_copies, blocks(), index, packed.data(), nullptr).kind, Mover::Kind::copies);
    EXPECT_EQ(move(node, blocks(), index, packed.data(), nullptr).kind, Mover::Kind::kernel);
  }
}

TEST_F(Move, a_profile_without_figures_is_refused_with_what_to_do) {
  Profile profile = planted_profile();
  profile.links[0].blocks.reset();
  const Node unmeasured = node_of(device, profile);
  EXPECT_THAT(message_of<Unsupported>([&] { move(unmeasured, blocks(), index, packed.data(), nullptr); }),
              HasSubstr("shiplap measure"));
  std::vector<std::byte> pageable(64 * block.count);
  EXPECT_THAT(message_of<Unsupported>([&] {
                move(node, BlockPool{pageable, block}, index, packed.data(), nullptr);
              }),
              AllOf(HasSubstr("pageable memory"), HasSubstr("pinned pool")));
}

TEST(MoveWithoutSupport, a_device_that_moves_blocks_in_schedules_only_says_so) {
  ForwardingDevice device(open_virtual(planted_profile(), "virtual:planted"));
  const Mover mover;
  EXPECT_THROW(device.move_blocks({}, {&mover, 1}, nullptr), Unsupported);
}

}  // namespace
}  // namespace shiplap
