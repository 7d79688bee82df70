#include "shiplap/strategy/device_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "shiplap/core/error.hpp"
#include "tests/support/cpu_time.hpp"

namespace shiplap {
namespace {

/// Plays the ring byte by byte: which byte of the array lies where, and which chunk brought it.
class Played {
 public:
  Played(const DeviceRing& ring, const std::vector<ChunkReach>& pieces) : ring_(ring), pieces_(pieces) {
    at_.assign(ring.size().count, nothing);
    by_.assign(ring.size().count, 0);
    read_by_.assign(ring.size().count, 0);
  }

  void play(std::uint32_t chunk) {
    const DeviceRing::Placement& place = ring_[chunk];
    const ChunkReach& piece = pieces_[chunk];
    const std::vector<std::int64_t> before = at_;
    readers_.clear();
    for (std::uint64_t i = 0; i < place.moved.count; ++i) {
      ASSERT_GE(place.moved_from.count, place.reach.count + place.moved.count) << "moves onto itself, chunk " << chunk;
      put(chunk, place.reach.count + i, before.at(place.moved_from.count + i));
    }
    for (std::uint64_t i = 0; i < piece.fresh.length.count; ++i)
      put(chunk, place.fresh.count + i, static_cast<std::int64_t>(piece.fresh.offset.count + i));
    for (std::uint64_t i = 0; i < piece.reach.length.count; ++i)
      ASSERT_EQ(at_.at(place.reach.count + i), static_cast<std::int64_t>(piece.reach.offset.count + i))
          << "chunk " << chunk << " is handed another byte " << i;
    for (std::uint64_t i = 0; i < piece.reach.length.count; ++i) read_by_[place.reach.count + i] = chunk;
    if (!ring_.shares()) return;
    for (const auto& [of, last_reader, mover] : place.overwritten)
      EXPECT_EQ(last_reader, readers_[of]) << "of what chunk " << of << " had where chunk " << chunk << " comes to lie";
  }

 private:
  static constexpr std::int64_t nothing = -1;
  void put(std::uint32_t chunk, std::uint64_t where, std::int64_t byte) {
    // In a slot a chunk comes after the one before in it, and so after what was there before that.
    const auto& overwritten = ring_[chunk].overwritten;
    const bool in_turn = !ring_.shares() && !overwritten.empty() && by_[where] <= overwritten.front().chunk;
    if (at_.at(where) != nothing && !in_turn) {
      EXPECT_TRUE(std::ranges::count(overwritten, by_[where], &DeviceRing::Overwritten::chunk) == 1 ||
                  by_[where] == chunk)
          << "chunk " << chunk << " overwrites what it does not say";
    }
    if (by_[where] != chunk) {
      auto& reader = readers_.try_emplace(by_[where], by_[where]).first->second;
      reader = std::max(reader, read_by_[where]);
    }
    at_[where] = byte;
    by_[where] = chunk;
  }
  const DeviceRing& ring_;
  const std::vector<ChunkReach>& pieces_;
  std::vector<std::int64_t> at_;
  std::vector<std::uint32_t> by_;
  std::vector<std::uint32_t> read_by_;              // last chunk that was handed the byte that lies there
  std::map<std::uint32_t, std::uint32_t> readers_;  // of what each chunk had and the chunk at hand overwrites
};

std::vector<ChunkReach> pieces_of(std::uint64_t items, std::uint64_t before, std::uint64_t after, std::uint32_t chunks,
                                  const Ramp& ramp = {}) {
  Job job{.items = items, .arrays = {{.name = "a", .size = Bytes{items * 3}, .element = Bytes{3}}}};
  job.arrays[0].reach = halo(before, after);
  return chunk_reaches(job, job.arrays[0], cut_into_chunks(job, chunks, ramp));
}

TEST(DeviceRing, hands_every_chunk_its_reach_whatever_the_halo_the_ramp_and_the_ring) {
  for (const std::uint64_t before : {0u, 1u, 2u, 9u})
    for (const std::uint64_t after : {0u, 1u, 5u})
      for (const std::uint32_t chunks : {1u, 2u, 7u, 30u})
        for (const std::uint32_t slots : {1u, 2u, 3u, 30u})
          for (const Ramp& ramp : {Ramp{}, Ramp{.first = 0.2, .last = 0.5, .growth = 1.5}}) {
            const auto pieces = pieces_of(211, before, after, chunks, ramp);
            const DeviceRing ring(pieces, slots);
            Played played(ring, pieces);
            for (std::uint32_t c = 0; c < chunks; ++c) {
              SCOPED_TRACE(::testing::Message() << before << " before, " << after << " after, " << chunks << " chunks, "
                                                << slots << " slots");
              played.play(c);
              if (::testing::Test::HasFailure()) return;
            }
          }
}

TEST(DeviceRing, is_laid_out_in_a_time_that_is_proportional_to_the_number_of_chunks) {
  const auto time_of = [](std::uint32_t chunks) {
    const auto pieces = pieces_of(std::uint64_t{4} * chunks, 1, 1, chunks);
    const Seconds began = cpu_time();
    EXPECT_EQ(DeviceRing(pieces, chunks).size(), Bytes{std::uint64_t{12} * chunks});
    return cpu_time() - began;
  };
  time_of(1000);
  const Seconds few = std::min({time_of(1000), time_of(1000), time_of(1000)});
  EXPECT_LT(std::min(time_of(16'000), time_of(16'000)) / few, 80)
      << "sixteen times as many chunks; 256 if each one were compared with all others";
}

TEST(DeviceRing, brings_every_byte_of_a_halo_once) {
  Bytes brought;
  for (const ChunkReach& piece : pieces_of(211, 2, 3, 13)) brought += piece.fresh.length;
  EXPECT_EQ(brought, Bytes{211 * 3});
}

TEST(DeviceRing, takes_irregular_pieces_as_a_mapping_gives_them) {
  std::mt19937 random(7);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<ChunkReach> pieces;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    for (int c = 0; c < 40; ++c) {
      begin = std::min<std::uint64_t>(begin + random() % 9, end + random() % 3);
      const std::uint64_t last = std::max(end, begin + random() % 12);
      const std::uint64_t fresh = std::max(begin, std::min(end, last));
      pieces.push_back({{Bytes{begin}, Bytes{last - begin}}, {Bytes{fresh}, Bytes{last - fresh}}});
      end = last;
    }
    for (const std::uint32_t slots : {1u, 2u, 5u}) {
      const DeviceRing ring(pieces, slots);
      Played played(ring, pieces);
      for (std::uint32_t c = 0; c < pieces.size(); ++c) {
        SCOPED_TRACE(::testing::Message() << "repeat " << repeat << ", " << slots << " slots");
        played.play(c);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(DeviceRing, aligns_pieces_that_share_nothing_as_the_allocator_does) {
  const auto pieces = pieces_of(1000, 0, 0, 10);
  const DeviceRing ring(pieces, 3);
  for (std::uint32_t c = 0; c < 10; ++c) EXPECT_EQ(ring[c].fresh.count % 256, 0u);
  EXPECT_EQ(ring.size(), Bytes{3 * 512});  // 300 bytes each
}

TEST(DeviceRing, aligns_pieces_as_in_their_array_beside_arrays_in_host_memory) {
  for (const std::uint32_t chunks : {1u, 7u, 10u})
    for (const std::uint32_t slots : {1u, 3u}) {
      const auto pieces = pieces_of(1000, 0, 0, chunks);
      const DeviceRing ring(pieces, slots, DeviceRing::Alignment::in_array);
      Played played(ring, pieces);
      for (std::uint32_t c = 0; c < chunks; ++c) {
        EXPECT_EQ(ring[c].fresh.count % 256, pieces[c].fresh.offset.count % 256);
        EXPECT_EQ(ring[c].reach, ring[c].fresh);
        EXPECT_LE(ring[c].fresh + pieces[c].fresh.length, ring.size());
        played.play(c);
      }
    }
}

TEST(Pieces, refuse_a_mapping_that_goes_back_leaves_the_array_or_has_two_chunks_write_the_same) {
  Job job{.items = 10, .name = "mapped", .arrays = {{.name = "a", .size = Bytes{100}}}};
  const auto chunks = cut_into_chunks(job, 5);
  const auto with = [&](Role role, auto map) {
    job.arrays[0].role = role;
    job.arrays[0].reach = mapped_by(map);
    return [&] { return chunk_reaches(job, job.arrays[0], chunks); };
  };
  EXPECT_THROW(with(Role::in, [](ItemRange r) { return ElementRange{90 - 10 * r.first, 10}; })(), UsageError);
  EXPECT_THROW(with(Role::in, [](ItemRange r) { return ElementRange{12 * r.first, 10}; })(), UsageError);
  EXPECT_THROW(with(Role::out, [](ItemRange r) { return ElementRange{10 * r.first, 21}; })(), UsageError);
  EXPECT_NO_THROW(with(Role::out, [](ItemRange r) { return ElementRange{10 * r.first, 17}; })());
  job.arrays[0] = {.name = "a", .role = Role::out, .size = Bytes{100}, .reach = halo(1, 0)};
  EXPECT_THROW(chunk_reaches(job, job.arrays[0], chunks), UsageError);
}

}  // namespace
}  // namespace shiplap
