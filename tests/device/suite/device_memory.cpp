// What a device promises of memory: kinds, room, pins of the caller's memory by range, and scattered blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/pattern.hpp"
#include "tests/device/suite/device_suite.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// --- Kinds of memory ---

TEST_P(DeviceMemory, of_every_kind_comes_back_from_the_gpu_byte_by_byte_at_odd_sizes) {
  for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::pinned, MemoryKind::mapped, MemoryKind::driver_pinned,
                                MemoryKind::write_combined})
    for (const std::uint64_t bytes : {1ull, 7ull, 8ull, 4097ull, 65'537ull, (3ull << 20) + 5}) {
      SCOPED_TRACE(to_string(kind) + ", " + std::to_string(bytes));
      const Bytes size{bytes};
      Schedule s;
      const BufferId from = s.add_buffer({"from", Place::host(), kind, size});
      const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, size});
      const BufferId back = s.add_buffer({"back", Place::host(), kind, size});
      const StreamId stream = s.add_stream("copies");
      s.add({.what = Copy{{from, 0_B, size}, {gpu, 0_B, size}}, .stream = stream, .after = {}});
      s.add({.what = Copy{{gpu, 0_B, size}, {back, 0_B, size}}, .stream = stream, .after = {}});
      std::vector<Memory> memory;
      Bindings bindings;
      for (const Buffer& b : s.buffers) {
        memory.push_back(device->allocate(b.place, b.memory, b.size));
        bindings.buffers.push_back(memory.back().data());
        device->fill(memory.back(), bytes + memory.size());
      }
      device->fill(memory[0], 7);
      memory[0].data()[bytes / 2] ^= std::byte{1};
      device->prepare(s, bindings)->run();
      const Bytes word{bytes / 2 / 8 * 8};
      for (const Memory& m : memory) {
        EXPECT_EQ(device->mismatches(m, 0_B, size, 7, 0_B), 1u) << "the byte that was changed";
        EXPECT_EQ(device->mismatches(m, 0_B, word, 7, 0_B), 0u) << "in front of it";
        EXPECT_EQ(device->mismatches(m, word, Bytes{bytes - word.count}, 7, word), 1u) << "from its word on";
      }
    }
}

TEST_P(DeviceMemory, is_accepted_where_it_is_what_the_schedule_says) {
  using Kind = MemoryKind;
  const Place host = Place::host();
  const Place gpu = Place::gpu();
  for (const auto& [place, claimed, bound_to, bound, fits] :
       {std::tuple{host, Kind::pinned, host, Kind::pageable, false},
        {host, Kind::pinned, host, Kind::managed, false},
        {host, Kind::mapped, host, Kind::pinned, true},
        {host, Kind::pageable, host, Kind::pinned, true},
        {host, Kind::managed, host, Kind::pinned, false},
        {host, Kind::managed, host, Kind::managed, true},
        {gpu, Kind::device, host, Kind::pinned, false},
        {gpu, Kind::device, gpu, Kind::managed, false},
        {gpu, Kind::managed, gpu, Kind::device, false}}) {
    SCOPED_TRACE(to_string(claimed) + ", " + to_string(bound));
    Schedule s;
    s.add_buffer({"in", place, claimed, 4_KiB});
    const Memory memory = device->allocate(bound_to, bound, 4_KiB);
    const Bindings bindings{.buffers = {memory.data()}, .kernels = {}};
    if (fits)
      EXPECT_NO_THROW(device->prepare(s, bindings));
    else
      EXPECT_THAT(message_of([&] { device->prepare(s, bindings); }), HasSubstr("buffer in is " + to_string(claimed)));
    if (bound_to == gpu) continue;
    EXPECT_EQ(device->kind_of(memory.data(), memory.size()), bound);
  }
}

TEST_P(DeviceMemory, that_is_not_there_is_refused_with_the_numbers_and_what_is_released_is_given_back) {
  const DeviceInfo info = device->info();
  const Bytes wanted = info.memory + 1_GiB;
  EXPECT_THAT(message_of([&] { device->allocate(Place::gpu(), MemoryKind::device, wanted); }),
              AllOf(HasSubstr(to_string(wanted)), HasSubstr(" of " + to_string(info.memory) + " are free")));
  constexpr Bytes more_than_any_host{std::uint64_t{1} << 50};
  for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::pinned, MemoryKind::driver_pinned})
    EXPECT_THAT(message_of([&] { device->allocate(Place::host(), kind, more_than_any_host); }),
                AllOf(HasSubstr(to_string(more_than_any_host)), HasSubstr("are available")));
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::managed})
    EXPECT_THROW(device->allocate(Place::gpu(60), kind, 4_KiB), Error) << "there is no such GPU";
  std::size_t before = 0;
  for (int round = 0; round < 3; ++round) {
    {
      const Memory host = device->allocate(Place::host(), MemoryKind::pinned, 5_MiB);
      const Memory gpu = device->allocate(Place::gpu(), MemoryKind::device, 5_MiB);
      EXPECT_GT(tested->in_use(), before);
    }
    if (round == 0) before = tested->in_use();
  }
  EXPECT_EQ(tested->in_use(), before);
}

TEST_P(DeviceMemory, outlives_its_device) {
  const Memory host = device->allocate(Place::host(), MemoryKind::pinned, 4_KiB);
  std::optional<Memory> gpu = device->allocate(Place::gpu(), MemoryKind::device, 4_KiB);
  std::vector<std::byte> data(4096);
  const Memory pinned = device->pin(data.data(), 4_KiB);
  device.reset();
  host.bytes().back() = std::byte{7};
  EXPECT_EQ(host.bytes().back(), std::byte{7});
  const std::size_t before = tested->in_use();
  gpu.reset();
  EXPECT_LE(tested->in_use(), before);
}

// --- Pins ---

constexpr std::size_t pinned_size = 1 << 20;

TEST_P(DeviceMemory, stays_pinned_until_its_last_holder_goes_also_that_of_a_part_or_of_another_device) {
  std::vector<std::byte> data(pinned_size, std::byte{1});
  const auto other = tested->open(1);
  for (const auto& [begin, size] :
       {std::pair<std::size_t, std::size_t>{0, pinned_size}, {0, 1}, {4096, 4096}, {pinned_size - 1, 1}})
    for (MeasurableDevice* second : {device.get(), other.get()}) {
      SCOPED_TRACE(begin);
      std::optional<Memory> whole = device->pin(data.data(), Bytes{pinned_size});
      EXPECT_EQ(device->kind_of(data.data(), Bytes{pinned_size}), MemoryKind::pinned);
      std::optional<Memory> part = second->pin(data.data() + begin, Bytes{size});
      EXPECT_EQ(part->data(), data.data() + begin);
      EXPECT_EQ(part->size(), Bytes{size});
      whole.reset();
      EXPECT_EQ(second->kind_of(part->data(), part->size()), MemoryKind::pinned);
      part.reset();
      EXPECT_EQ(device->kind_of(data.data(), Bytes{pinned_size}), MemoryKind::pageable);
    }
}

TEST_P(DeviceMemory, is_pinned_beside_a_pinned_range_and_not_across_its_border) {
  std::vector<std::byte> data(pinned_size, std::byte{1});
  std::byte* const first = data.data() + 40'960;
  const Memory middle = device->pin(first, 5000_B);
  for (const auto& [before, size] : {std::pair<std::size_t, std::uint64_t>{0, 5001}, {1, 5000}, {1, 2}, {5000, 20'000}})
    EXPECT_THAT(message_of([&, &before = before, &size = size] { device->pin(first - before, Bytes{size}); }),
                HasSubstr("a part is pinned already"));
  EXPECT_THAT(message_of([&] { device->pin(first + 4999, 2_B); }),
              HasSubstr(to_string(5000_B) + " from its byte -4999 on"));
  EXPECT_THAT(message_of([&] { device->kind_of(first, Bytes{pinned_size / 2}); }), HasSubstr("only a part is pinned"));
  // Neighbours in the same page.
  for (const auto& [begin, size] : {std::pair<std::byte*, Bytes>{first - 5000, 5000_B}, {first + 5000, 20'000_B}}) {
    const Memory neighbour = device->pin(begin, size);
    EXPECT_EQ(device->kind_of(begin, size), MemoryKind::pinned);
    EXPECT_THROW(device->kind_of(std::min(begin, first), size + 5000_B), Error) << "two ranges";
  }
  const Memory few = device->pin(data.data(), 100_B);
  const Schedule s = three_streams_inverting();
  TransferMemory memory = memory_for(s);
  memory.bindings.buffers[0] = data.data();
  EXPECT_THROW(device->prepare(s, memory.bindings), Error) << "a part of the buffer is pinned";
  EXPECT_EQ(device->kind_of(first, 5000_B), MemoryKind::pinned);
}

TEST_P(DeviceMemory, that_others_have_pinned_stays_pinned_when_a_holder_goes) {
  const Memory ours = device->allocate(Place::host(), MemoryKind::pinned, 64_KiB);
  { const Memory part = device->pin(ours.data(), 4_KiB); }
  EXPECT_EQ(device->kind_of(ours.data(), 64_KiB), MemoryKind::pinned);
}

// An op that pins is one more holder.
TEST_P(DeviceMemory, that_an_op_unpins_stays_pinned_for_another_holder) {
  std::vector<std::byte> data(pinned_size, std::byte{1});
  Schedule s;
  const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pageable, Bytes{pinned_size}});
  for (const HostCall::Kind kind : {HostCall::Kind::pin, HostCall::Kind::unpin})
    s.add({.what = HostCall{.kind = kind, .region = {host, 0_B, Bytes{pinned_size}}}, .stream = {}, .after = {}});
  const auto execution = device->prepare(s, {.buffers = {data.data()}, .kernels = {}});
  std::optional<Memory> held = device->pin(data.data(), Bytes{pinned_size});
  execution->run();
  EXPECT_EQ(device->kind_of(data.data(), Bytes{pinned_size}), MemoryKind::pinned);
  held.reset();
  execution->run();
  EXPECT_EQ(device->kind_of(data.data(), Bytes{pinned_size}), MemoryKind::pageable);
}

TEST_P(DeviceMemory, that_two_threads_pin_and_unpin_is_pinned_for_each_as_long_as_it_holds_it) {
  std::vector<std::byte> data(pinned_size, std::byte{1});
  std::atomic<int> wrong{0};
  const auto take_and_leave = [&] {
    for (int i = 0; i < 500; ++i) {
      const Memory pinned = device->pin(data.data(), Bytes{pinned_size});
      std::this_thread::sleep_for(std::chrono::microseconds(2));
      if (device->kind_of(data.data(), Bytes{pinned_size}) != MemoryKind::pinned) ++wrong;
    }
  };
  std::thread other(take_and_leave);
  take_and_leave();
  other.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(device->kind_of(data.data(), Bytes{pinned_size}), MemoryKind::pageable);
}

// --- Scattered blocks: every byte, against a plain loop on the host ---

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
constexpr std::uint64_t many_blocks = 1000;
constexpr std::uint64_t small_block = 50;  ///< bytes; of larger blocks there are not many

/// One list of blocks of a pool of pinned memory, and contiguous memory for all of them. Both buffers have bytes before
/// and behind the regions that ops use.
class ScatteredBlocks {
 public:
  ScatteredBlocks(TestedDevice& tested, MeasurableDevice& device, const BlockShape& shape, std::uint64_t blocks,
                  bool regular = false, bool on_gpu = true)
      : count(blocks), pool_blocks(regular ? blocks : blocks + blocks / 2 + 3), device_(device), shape_(shape) {
    for (const auto kind : {Mover::Kind::copies, Mover::Kind::batch}) movers.push_back({.kind = kind});
    if (regular) movers.push_back({.kind = Mover::Kind::strided});
    for (const std::uint32_t grid : {1u, 3u, 132u})
      if (tested.runs_kernels_and_graphs()) movers.push_back({.kind = Mover::Kind::kernel, .grid = grid});
    constexpr std::uint64_t behind = 40;
    pool_.resize(shape.pool_offset + pool_length() + behind);
    packed_.resize(shape.packed_offset + count * shape.block + behind);
    schedule.add_buffer({"pool", Place::host(), MemoryKind::pinned, Bytes{pool_.size()}});
    schedule.add_buffer({"packed", on_gpu ? Place::gpu() : Place::host(),
                         on_gpu ? MemoryKind::device : MemoryKind::pinned, Bytes{packed_.size()}});
    schedule.add_list({.name = "pages",
                       .block = Bytes{shape.block},
                       .pitch = Bytes{shape.pitch},
                       .count = count,
                       .regular = regular});
    schedule.add_stream("one");
    schedule.add_stream("two");
    for (const Buffer& b : schedule.buffers) memory_.push_back(device.allocate(b.place, b.memory, b.size));
    indices.resize(regular ? 0 : count);
    draw();
  }

  void add(const Mover& mover, bool gather, std::uint64_t first, std::uint64_t blocks, StreamId stream = {0}) {
    schedule.add({.what = BlockCopy{.list = {0},
                                    .first = first,
                                    .count = blocks,
                                    .gather = gather,
                                    .pool = {{0}, Bytes{shape_.pool_offset}, Bytes{pool_length()}},
                                    .packed = {{1},
                                               Bytes{shape_.packed_offset + first * shape_.block},
                                               Bytes{blocks * shape_.block}},
                                    .mover = mover},
                  .stream = stream,
                  .after = {}});
  }
  /// Prepares one op that moves the blocks from `first` on.
  std::unique_ptr<Execution> prepare(const Mover& mover, bool gather, std::uint64_t first = 0, StreamId stream = {0}) {
    schedule.ops.clear();
    draw();
    add(mover, gather, first, count - first, stream);
    return prepare();
  }
  std::unique_ptr<Execution> prepare() {
    return device_.prepare(schedule,
                           {.buffers = {memory_[0].data(), memory_[1].data()}, .kernels = {}, .lists = {indices}});
  }

  /// Other bytes, and other indices of which none comes twice.
  void draw() {
    for (Image* image : {&pool_, &packed_}) fill_pattern(*image, random_());
    std::vector<std::uint32_t> all(pool_blocks);
    std::iota(all.begin(), all.end(), 0u);
    std::ranges::shuffle(all, random_);
    std::copy_n(all.begin(), indices.size(), indices.begin());
    std::ranges::copy(pool_, memory_[0].data());
    copy_packed(packed_, true);
  }

  /// Moves the blocks of all ops in the images.
  void move_in_images() {
    for (const Op& op : schedule.ops) {
      const auto& blocks = std::get<BlockCopy>(op.what);
      for (std::uint64_t k = blocks.first; k < blocks.first + blocks.count; ++k) {
        std::byte* const there = pool_.data() + shape_.pool_offset + (indices.empty() ? k : indices[k]) * shape_.pitch;
        std::byte* const here = packed_.data() + shape_.packed_offset + k * shape_.block;
        std::copy_n(blocks.gather ? there : here, shape_.block, blocks.gather ? here : there);
      }
    }
  }
  void expect_images() {
    Image found(packed_.size());
    copy_packed(found, false);
    EXPECT_EQ(first_difference(found.data(), packed_), -1) << "in contiguous memory";
    EXPECT_EQ(first_difference(memory_[0].data(), pool_), -1) << "in the pool";
  }
  void run_and_compare(Execution& execution, const RunOptions& options = {}) {
    execution.run(options);
    move_in_images();
    expect_images();
  }

  std::uint64_t count;
  std::uint64_t pool_blocks;
  std::vector<Mover> movers;
  Schedule schedule;
  std::vector<std::uint32_t> indices;

 private:
  std::uint64_t pool_length() const { return (pool_blocks - 1) * shape_.pitch + shape_.block; }
  static std::ptrdiff_t first_difference(const std::byte* found, const Image& expected) {
    if (std::memcmp(found, expected.data(), expected.size()) == 0) return -1;
    const auto at = std::ranges::mismatch(expected, std::span(found, expected.size())).in1;
    return at - expected.begin();
  }
  /// Copies between the image and the contiguous memory, which may be on the GPU.
  void copy_packed(Image& image, bool to_memory) {
    const Buffer& there = schedule.buffers[1];
    if (there.place.is_host()) {
      std::byte* const data = memory_[1].data();
      std::copy_n(to_memory ? image.data() : data, image.size(), to_memory ? data : image.data());
      return;
    }
    Schedule s;
    s.add_buffer({"image", Place::host(), MemoryKind::pageable, there.size});
    s.add_buffer(there);
    const Region regions[] = {{{0}, 0_B, there.size}, {{1}, 0_B, there.size}};
    s.add({.what = Copy{regions[to_memory ? 0 : 1], regions[to_memory ? 1 : 0]},
           .stream = s.add_stream("copy"),
           .after = {}});
    device_.prepare(s, {.buffers = {image.data(), memory_[1].data()}, .kernels = {}})->run();
  }

  std::mt19937 random_{17};
  MeasurableDevice& device_;
  BlockShape shape_;
  std::vector<Memory> memory_;
  Image pool_, packed_;  ///< what the memory must hold
};

TEST_P(DeviceBlocks, are_moved_by_every_mover_whatever_their_size_alignment_number_and_position) {
  for (const bool regular : {false, true})
    for (const BlockShape& shape : block_shapes)
      for (const std::uint64_t n : block_counts) {
        if (n > many_blocks && shape.block > small_block) continue;
        ScatteredBlocks blocks(*tested, *device, shape, n, regular);
        for (const Mover& mover : blocks.movers)
          for (const bool gather : {true, false})
            for (const std::uint64_t first : {std::uint64_t{0}, n / 2}) {
              if (first > 0 && (!regular || n % 2 == 1)) continue;
              SCOPED_TRACE(to_string(mover) + (gather ? " gathers " : " scatters ") + std::to_string(n - first) +
                           " blocks of " + std::to_string(shape.block) + " B at a pitch of " +
                           std::to_string(shape.pitch) + " B");
              blocks.run_and_compare(*blocks.prepare(mover, gather, first));
              ASSERT_FALSE(HasFailure());
            }
      }
}

TEST_P(DeviceBlocks, are_those_of_the_list_when_a_run_is_submitted) {
  ScatteredBlocks blocks(*tested, *device, {512, 528, 0, 0}, 8100);
  for (const Mover& mover : blocks.movers)
    for (const bool gather : {true, false}) {
      SCOPED_TRACE(to_string(mover));
      const auto execution = blocks.prepare(mover, gather, 100);
      for (int run = 0; run < 2; ++run) {
        blocks.draw();
        blocks.move_in_images();
        execution->submit();
        std::ranges::fill(blocks.indices, 0u);
        execution->wait();
        blocks.expect_images();
      }
    }
}

TEST_P(DeviceBlocks, may_be_gathered_twice_held_traced_and_scattered_in_two_streams) {
  ScatteredBlocks blocks(*tested, *device, {48, 64, 16, 16}, 9000);
  for (const Mover& mover : blocks.movers) {
    SCOPED_TRACE(to_string(mover));
    for (const RunOptions& options : {RunOptions{}, {.hold = true}, {.trace = Trace::events}}) {
      // A call for each block: more calls than the hardware queues of a GPU take while it is held.
      if (options.hold && mover.kind == Mover::Kind::copies) continue;
      const auto execution = blocks.prepare(mover, true);
      for (std::uint32_t& index : blocks.indices) index %= 7;
      blocks.run_and_compare(*execution, options);
    }
    blocks.schedule.ops.clear();
    blocks.draw();
    blocks.add(mover, false, 0, 4000, {0});
    blocks.add(mover, false, 4000, 5000, {1});
    blocks.run_and_compare(*blocks.prepare());
  }
}

TEST_P(DeviceBlocks, are_moved_by_a_host_agent_without_a_stream_and_in_graphs) {
  for (const bool gather : {true, false}) {
    ScatteredBlocks by_agent(*tested, *device, {7, 9, 1, 3}, 1000, false, false);
    by_agent.run_and_compare(*by_agent.prepare({}, gather, 10, StreamId{}));
    ScatteredBlocks in_graph(*tested, *device, {48, 64, 0, 0}, 50, true);
    in_graph.schedule.as_graph = true;
    for (const Mover& mover : in_graph.movers) {
      if (mover.kind == Mover::Kind::batch) continue;  // no graph has one
      SCOPED_TRACE(to_string(mover));
      const auto execution = in_graph.prepare(mover, gather, 5);
      for (int run = 0; run < 2; ++run) {
        if (tested->runs_kernels_and_graphs()) in_graph.draw();
        in_graph.run_and_compare(*execution);
      }
    }
  }
}

TEST_P(DeviceBlocks, that_a_list_cannot_name_are_refused_before_a_byte_moves) {
  ScatteredBlocks blocks(*tested, *device, {48, 64, 0, 0}, 100);
  for (const Mover& mover : blocks.movers)
    for (const bool gather : {true, false}) {
      SCOPED_TRACE(to_string(mover));
      blocks.schedule.ops.clear();
      blocks.draw();
      blocks.add(mover, gather, 0, 50);
      blocks.add(mover, gather, 50, 50);
      const auto execution = blocks.prepare();
      const auto good = std::exchange(blocks.indices[99], static_cast<std::uint32_t>(blocks.pool_blocks));
      EXPECT_EQ(message_of<UsageError>([&] { execution->run(); }),
                "list pages: index 153 at position 99 is outside of the pool, which has blocks 0 to 152; use one of "
                "these");
      blocks.expect_images();
      blocks.indices[99] = blocks.indices[3];
      if (!gather) {
        EXPECT_THAT(message_of<UsageError>([&] { execution->run(); }), HasSubstr("positions 3 and 99 both name"));
        blocks.expect_images();
      }
      blocks.indices[99] = good;
      blocks.run_and_compare(*execution);
    }
  blocks.indices.pop_back();
  EXPECT_THROW(blocks.prepare(), Error) << "an index for every block";
  EXPECT_THROW(device->prepare({}, {.buffers = {}, .kernels = {}, .lists = {blocks.indices}}), Error);
}

}  // namespace
}  // namespace shiplap::testing
