#include "shiplap/strategy/staging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "shiplap/strategy/block_ops.hpp"

namespace shiplap {
namespace {

/// Size of the pieces. Larger pieces do not stay in the caches of a CPU, and a copy engine moves smaller pieces more
/// slowly.
constexpr Bytes usual_piece = 2_MiB;
/// Most pieces of a chunk. They are larger in larger chunks, so that no schedule becomes long by its pieces.
constexpr std::uint64_t most_pieces = 64;

/// The threads that have something to copy.
std::uint32_t threads_at_work(const Job& job, std::uint32_t threads, std::uint32_t chunks) {
  std::uint64_t pieces = 0;
  for (const Array& a : job.arrays) pieces = std::max(pieces, a.size.count / usual_piece.count + chunks);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, pieces));
}

}  // namespace

StagingRings::StagingRings(Schedule& schedule, const Job& job, const Staging& staging, std::uint32_t chunks)
    : schedule_(schedule),
      job_(job),
      threads_(threads_at_work(job, staging.threads, chunks)),
      piece_(job.arrays.size()),
      in_(job.arrays.size()),
      out_(job.arrays.size()) {
  if (!used()) return;
  const auto add = [&](std::string name, std::optional<std::uint16_t> node = {}) {
    schedule.agents.push_back({.name = std::move(name), .numa_node = node});
    return AgentId{static_cast<std::uint32_t>(schedule.agents.size() - 1)};
  };
  // The first agent is the caller's thread. Functions of Python as kernels can be called by no other one.
  launcher_ = add("launches");
  sender_ = add("copies in");
  fetcher_ = add("copies out");
  constexpr std::uint16_t node = any_numa_node;  // the threads run where the rings are
  first_in_ = static_cast<std::uint32_t>(schedule.agents.size());
  for (std::uint32_t t = 0; t < threads_; ++t) add(fmt::format("in {}", t), node);
  first_out_ = static_cast<std::uint32_t>(schedule.agents.size());
  const bool out = std::ranges::any_of(
      job.arrays, [](const Array& a) { return a.memory == MemoryKind::pageable && is_output(a.role); });
  for (std::uint32_t t = 0; t < threads_ && out; ++t) add(fmt::format("out {}", t), node);
}

void StagingRings::add_rings(std::size_t array, Bytes most) {
  const Array& a = job_.arrays[array];
  Bytes& piece = piece_[array];
  constexpr std::uint64_t pages = most_pieces * 4096;  // bytes of a page for each piece: pieces begin at whole pages
  piece = std::min(most, std::max(usual_piece, Bytes{(most.count + pages - 1) / pages * 4096}));
  if (a.blocks) piece = a.blocks->block * std::max<std::uint64_t>(1, piece.count / a.blocks->block.count);
  const auto ring = [&](const char* direction) {
    return Ring{.buffer = schedule_.add_buffer({.name = fmt::format("ring of {} {}", a.name, direction),
                                                .place = Place::host(),
                                                .memory = MemoryKind::pinned,
                                                .size = piece * slots()}),
                .last = std::vector<OpId>(slots())};
  };
  if (is_input(a.role)) in_[array] = ring("in");
  if (is_output(a.role)) out_[array] = ring("out");
}

std::vector<ByteRange> StagingRings::pieces(std::size_t array, const ByteRange& bytes) const {
  std::vector<ByteRange> result;
  for (Bytes at; at < bytes.length; at += piece_[array])
    result.push_back({bytes.offset + at, std::min(piece_[array], bytes.length - at)});
  return result;
}

StagingRings::Filled StagingRings::fill(std::size_t array, std::uint32_t chunk, const ByteRange& piece) {
  const Ring& ring = in_[array];
  const Region to = region(ring, array, piece.length);
  Op op{.what = move_to(job_, array, piece, to, {}, true),
        .stream = {},
        .agent = AgentId{first_in_ + ring.used % threads_},
        .after = {},
        .chunk = chunk};
  if (const OpId last = ring.last[slot(ring)]; !last.is_none()) op.after.push_back(last);
  return {to, schedule_.add(std::move(op))};
}

void StagingRings::sent(std::size_t array, OpId copy) {
  Ring& ring = in_[array];
  ring.last[slot(ring)] = copy;
  ++ring.used;
}

StagingRings::Filled StagingRings::next_slot(std::size_t array, Bytes length) const {
  const Ring& ring = out_[array];
  return {region(ring, array, length), ring.last[slot(ring)]};
}

void StagingRings::empty(std::size_t array, std::uint32_t chunk, OpId copy, const ByteRange& piece) {
  Ring& ring = out_[array];
  Op op{.what = move_back(job_, array, piece, region(ring, array, piece.length), {}, true),
        .stream = {},
        .agent = AgentId{first_out_ + ring.used % threads_},
        .after = {copy},
        .chunk = chunk};
  ring.last[slot(ring)] = schedule_.add(std::move(op));
  ++ring.used;
}

}  // namespace shiplap
