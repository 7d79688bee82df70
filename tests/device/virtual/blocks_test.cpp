// Scattered blocks on the virtual device: every byte, against a plain double loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

constexpr Mover::Kind kinds[] = {Mover::Kind::copies, Mover::Kind::batch, Mover::Kind::kernel, Mover::Kind::strided};

/// A schedule of ops on one pool, with memory, drawn at random. Ops of one list take neighbouring ranges of positions.
class RandomBlocks {
 public:
  explicit RandomBlocks(std::mt19937& random) : random_(random) {
    block_ = below(2) == 0 ? between(1, 16) : between(1, 300);
    pitch_ = block_ + (below(3) == 0 ? 0 : below(40));
    pool_blocks_ = between(1, 10);
    before_ = below(20);
    // The last block of the pool may lack the rest of its pitch.
    pool_size_ = (pool_blocks_ - 1) * pitch_ + block_ + below(pitch_ - block_ + 1);
    pool_.resize(before_ + pool_size_ + below(20));
    schedule_.add_buffer({"pool", Place::host(), MemoryKind::pinned, Bytes{pool_.size()}});
    schedule_.add_stream("one");
    schedule_.add_stream("two");
    const bool regular = below(4) == 0;
    const std::uint64_t count = between(1, pool_blocks_);
    const BlockListId list = schedule_.add_list(
        {.name = "l", .block = Bytes{block_}, .pitch = Bytes{pitch_}, .count = count, .regular = regular});
    gather_ = below(2) == 0;
    packed_.reserve(count);  // bindings point to its elements
    for (std::uint64_t first = 0; first < count;) {
      const std::uint64_t some = between(1, count - first);
      add(list, first, some, regular);
      first += some;
    }
    indices_.resize(regular ? 0 : count);
    for (std::vector<std::byte>& packed : packed_) bindings_.buffers.push_back(packed.data());
    bindings_.buffers.insert(bindings_.buffers.begin(), pool_.data());
    bindings_.lists = {indices_};
    execution_ = device().prepare(schedule_, bindings_);
    fill(pool_);
    for (std::vector<std::byte>& packed : packed_) fill(packed);
    expected_pool_ = pool_;
    expected_packed_ = packed_;
  }

  /// Runs the schedule with other indices than the run before, and compares every byte.
  void run() {
    draw_indices();
    for (std::size_t i = 0; i < schedule_.ops.size(); ++i)
      move_in_reference(std::get<BlockCopy>(schedule_.ops[i].what), expected_packed_[i]);
    execution_->run();
    expect_same(expected_pool_, pool_);
    for (std::size_t i = 0; i < packed_.size(); ++i) expect_same(expected_packed_[i], packed_[i]);
  }

 private:
  static MeasurableDevice& device() {
    static const auto one = open_virtual(planted_profile(), "virtual:planted");
    return *one;
  }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + below(high - low + 1); }

  void add(BlockListId list, std::uint64_t first, std::uint64_t count, bool regular) {
    const bool by_host = below(4) == 0;
    const std::uint64_t before = below(20);
    packed_.emplace_back(before + count * block_ + below(20));
    const BufferId buffer =
        schedule_.add_buffer({"packed", by_host ? Place::host() : Place::gpu(),
                              by_host ? MemoryKind::pinned : MemoryKind::device, Bytes{packed_.back().size()}});
    const Mover::Kind kind = kinds[below(regular ? 4 : 3)];
    schedule_.add({.what = BlockCopy{.list = list,
                                     .first = first,
                                     .count = count,
                                     .gather = gather_,
                                     .pool = {BufferId{0}, Bytes{before_}, Bytes{pool_size_}},
                                     .packed = {buffer, Bytes{before}, Bytes{count * block_}},
                                     .mover = {.kind = kind, .grid = kind == Mover::Kind::kernel ? 4u : 0u}},
                   .stream = by_host ? StreamId{} : StreamId{static_cast<std::uint32_t>(below(2))},
                   .after = {}});
  }

  // Gathers may name a block twice, scatters may not.
  void draw_indices() {
    if (gather_) {
      for (std::uint32_t& index : indices_) index = static_cast<std::uint32_t>(below(pool_blocks_));
      return;
    }
    std::vector<std::uint32_t> all(pool_blocks_);
    std::iota(all.begin(), all.end(), 0u);
    std::ranges::shuffle(all, random_);
    std::copy_n(all.begin(), indices_.size(), indices_.begin());
  }

  void move_in_reference(const BlockCopy& op, std::vector<std::byte>& expected_packed) {
    std::byte* const pool = expected_pool_.data() + before_;
    std::byte* const packed = expected_packed.data() + op.packed.offset.count;
    for (std::uint64_t k = 0; k < op.count; ++k) {
      const std::uint64_t index = indices_.empty() ? op.first + k : indices_[op.first + k];
      for (std::uint64_t b = 0; b < block_; ++b)
        if (gather_)
          packed[k * block_ + b] = pool[index * pitch_ + b];
        else
          pool[index * pitch_ + b] = packed[k * block_ + b];
    }
  }

  void fill(std::vector<std::byte>& bytes) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
  }
  static void expect_same(const std::vector<std::byte>& expected, const std::vector<std::byte>& found) {
    EXPECT_EQ(std::memcmp(expected.data(), found.data(), expected.size()), 0);
  }

  std::mt19937& random_;
  std::uint64_t block_, pitch_, pool_blocks_, pool_size_, before_;
  bool gather_;
  std::vector<std::byte> pool_;
  std::vector<std::vector<std::byte>> packed_;
  std::vector<std::byte> expected_pool_;
  std::vector<std::vector<std::byte>> expected_packed_;
  std::vector<std::uint32_t> indices_;
  Schedule schedule_;
  Bindings bindings_;
  std::unique_ptr<Execution> execution_;
};

TEST(BlocksOnVirtualDevice, are_moved_byte_by_byte_by_every_mover_and_lists_change_between_runs) {
  std::mt19937 random(5);
  constexpr int schedules = 1000;
  constexpr int lists_of_each = 100;
  for (int i = 0; i < schedules; ++i) {
    RandomBlocks blocks(random);
    for (int j = 0; j < lists_of_each; ++j) blocks.run();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "schedule " << i;
  }
}

struct SmallPool {
  Schedule schedule;
  std::vector<std::byte> pool{40, std::byte{1}};
  std::vector<std::byte> packed{8, std::byte{2}};
  std::vector<std::uint32_t> indices{3, 0};
  explicit SmallPool(bool gather) {
    const BufferId host = schedule.add_buffer({"pool", Place::host(), MemoryKind::pinned, 40_B});
    const BufferId gpu = schedule.add_buffer({"packed", Place::gpu(), MemoryKind::device, 8_B});
    const BlockListId list =
        schedule.add_list({.name = "pages", .block = 4_B, .pitch = 10_B, .count = 2, .regular = false});
    schedule.add({.what = BlockCopy{.list = list,
                                    .count = 2,
                                    .gather = gather,
                                    .pool = {host, 0_B, 40_B},
                                    .packed = {gpu, 0_B, 8_B},
                                    .mover = {.kind = Mover::Kind::batch}},
                  .stream = schedule.add_stream("q"),
                  .after = {}});
  }
  std::unique_ptr<Execution> prepare() {
    static const auto device = open_virtual(planted_profile(), "virtual:planted");
    return device->prepare(schedule, {.buffers = {pool.data(), packed.data()}, .kernels = {}, .lists = {indices}});
  }
};

TEST(BlocksOnVirtualDevice, are_refused_before_a_byte_moves_and_the_execution_runs_again) {
  SmallPool gather(true);
  const auto execution = gather.prepare();
  gather.indices = {0, 4};
  EXPECT_EQ(message_of<UsageError>([&] { execution->run(); }),
            "list pages: index 4 at position 1 is outside of the pool, which has blocks 0 to 3; use one of these");
  EXPECT_EQ(gather.packed, std::vector<std::byte>(8, std::byte{2}));
  gather.indices = {0, 3};
  EXPECT_NO_THROW(execution->run());
  EXPECT_EQ(gather.packed, std::vector<std::byte>(8, std::byte{1}));
}

TEST(BlocksOnVirtualDevice, are_not_scattered_through_a_list_that_names_a_block_twice) {
  SmallPool scatter(false);
  const auto execution = scatter.prepare();
  scatter.indices = {2, 2};
  EXPECT_THROW(execution->run(), UsageError);
  EXPECT_EQ(scatter.pool, std::vector<std::byte>(40, std::byte{1}));
}

TEST(BlocksOnVirtualDevice, need_an_index_for_every_block_when_they_are_prepared) {
  SmallPool gather(true);
  gather.indices.pop_back();
  EXPECT_THROW(gather.prepare(), Error);
  Schedule without;
  static const auto device = open_virtual(planted_profile(), "virtual:planted");
  EXPECT_THROW(device->prepare(without, {.buffers = {}, .kernels = {}, .lists = {gather.indices}}), Error);
}

}  // namespace
}  // namespace shiplap
