#include "shiplap/sim/residency.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/schedule/builder.hpp"

namespace shiplap::sim {
namespace {

using testing_schedules::buffer;

constexpr Place host = Place::host();
constexpr Place first_gpu = Place::gpu();

// One buffer of 100 B of managed memory on the host.
struct One {
  Schedule schedule;
  BufferId x = schedule.add_buffer(buffer("x", host, MemoryKind::managed, 100_B));
  Residency residency{schedule};

  std::uint64_t move(std::uint64_t offset, std::uint64_t length, Place to) {
    return residency.move({x, Bytes{offset}, Bytes{length}}, to).count;
  }
};

TEST(Residency, knows_which_buffers_are_managed) {
  Schedule schedule;
  std::map<std::uint32_t, bool> managed;
  for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::pinned, MemoryKind::mapped, MemoryKind::driver_pinned,
                                MemoryKind::write_combined, MemoryKind::managed, MemoryKind::device})
    managed[schedule.add_buffer(buffer("b", kind == MemoryKind::device ? first_gpu : host, kind, 8_B)).value] =
        kind == MemoryKind::managed;
  const Residency residency(schedule);
  for (const auto& [id, expected] : managed) EXPECT_EQ(residency.is_managed(BufferId{id}), expected) << id;
}

TEST(Residency, begins_where_the_buffers_place_is) {
  Schedule schedule;
  const BufferId on_host = schedule.add_buffer(buffer("h", host, MemoryKind::managed, 10_B));
  const BufferId on_gpu = schedule.add_buffer(buffer("g", first_gpu, MemoryKind::managed, 10_B));
  Residency residency(schedule);
  EXPECT_EQ(residency.move({on_host, 0_B, 10_B}, host), 0_B);
  EXPECT_EQ(residency.move({on_gpu, 0_B, 10_B}, first_gpu), 0_B);
  EXPECT_EQ(residency.move({on_host, 0_B, 10_B}, first_gpu), 10_B);
  EXPECT_EQ(residency.move({on_gpu, 0_B, 10_B}, host), 10_B);
}

TEST(Residency, moves_what_is_elsewhere_once) {
  One one;
  EXPECT_EQ(one.move(0, 100, first_gpu), 100u);
  EXPECT_EQ(one.move(0, 100, first_gpu), 0u);
  EXPECT_EQ(one.move(0, 100, host), 100u);
}

TEST(Residency, moves_only_the_part_of_a_region_that_is_elsewhere) {
  One one;
  EXPECT_EQ(one.move(20, 30, first_gpu), 30u);
  EXPECT_EQ(one.move(40, 20, first_gpu), 10u);  // 20 to 60 are there now
  EXPECT_EQ(one.move(0, 100, first_gpu), 60u);
}

TEST(Residency, keeps_what_lies_around_a_region_that_goes_back) {
  One one;
  EXPECT_EQ(one.move(0, 100, first_gpu), 100u);
  EXPECT_EQ(one.move(30, 10, host), 10u);
  EXPECT_EQ(one.move(0, 30, first_gpu), 0u);
  EXPECT_EQ(one.move(40, 60, first_gpu), 0u);
  EXPECT_EQ(one.move(29, 12, first_gpu), 10u);
}

TEST(Residency, tells_two_gpus_apart) {
  One one;
  EXPECT_EQ(one.move(0, 50, Place::gpu(0)), 50u);
  EXPECT_EQ(one.move(25, 50, Place::gpu(1)), 50u);
  EXPECT_EQ(one.move(0, 100, Place::gpu(0)), 75u);
}

TEST(Residency, of_no_bytes_moves_nothing_and_changes_nothing) {
  One one;
  for (const std::uint64_t at : {0u, 50u, 100u}) EXPECT_EQ(one.move(at, 0, first_gpu), 0u);
  EXPECT_EQ(one.move(0, 100, host), 0u);
  EXPECT_EQ(one.move(0, 100, first_gpu), 100u);
}

TEST(Residency, of_one_buffer_says_nothing_of_another) {
  Schedule schedule;
  const BufferId a = schedule.add_buffer(buffer("a", host, MemoryKind::managed, 10_B));
  const BufferId b = schedule.add_buffer(buffer("b", host, MemoryKind::managed, 10_B));
  Residency residency(schedule);
  EXPECT_EQ(residency.move({a, 0_B, 10_B}, first_gpu), 10_B);
  EXPECT_EQ(residency.move({b, 0_B, 10_B}, first_gpu), 10_B);
}

TEST(Residency, agrees_with_a_map_of_every_byte) {
  std::mt19937_64 random(99);
  for (int round = 0; round < 300; ++round) {
    Schedule schedule;
    std::vector<std::vector<Place>> bytes;
    for (std::uint64_t b = 1 + random() % 3; b > 0; --b) {
      const Place place = random() % 2 == 0 ? host : first_gpu;
      const std::uint64_t size = 1 + random() % 60;
      schedule.add_buffer(buffer("x", place, MemoryKind::managed, Bytes{size}));
      bytes.emplace_back(size, place);
    }
    Residency residency(schedule);
    for (int k = 0; k < 60; ++k) {
      const auto b = static_cast<std::uint32_t>(random() % bytes.size());
      const std::uint64_t size = bytes[b].size();
      const std::uint64_t offset = random() % size;
      const std::uint64_t length = random() % (size - offset + 1);  // 0, and up to the end
      const Place to = std::vector{host, first_gpu, Place::gpu(1)}[random() % 3];
      std::uint64_t expected = 0;
      for (std::uint64_t at = offset; at < offset + length; ++at) {
        expected += bytes[b][at] != to;
        bytes[b][at] = to;
      }
      ASSERT_EQ(residency.move({BufferId{b}, Bytes{offset}, Bytes{length}}, to).count, expected)
          << "round " << round << ", move " << k;
    }
  }
}

}  // namespace
}  // namespace shiplap::sim
