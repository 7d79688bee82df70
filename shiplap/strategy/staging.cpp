#include "shiplap/strategy/staging.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/strategy/block_ops.hpp"

namespace shiplap {

StagingRings::StagingRings(Schedule& schedule, const Job& job, const Staging& staging, std::uint32_t chunks)
    : schedule_(schedule),
      job_(job),
      threads_(std::min(staging.threads, chunks)),
      first_agent_(static_cast<std::uint32_t>(schedule.agents.size())),
      stride_(job.arrays.size()),
      in_ring_(job.arrays.size()),
      out_ring_(job.arrays.size()),
      emptied_(job.arrays.size(), std::vector<OpId>(chunks)) {
  if (!used()) return;
  if (job.calls_by_one_thread) {
    schedule.agents.push_back({.name = "launches", .numa_node = {}});
    ++first_agent_;
  }
  constexpr std::uint16_t node = any_numa_node;  // the threads run where the rings are
  const bool out = std::ranges::any_of(
      job.arrays, [](const Array& a) { return a.memory == MemoryKind::pageable && is_output(a.role); });
  for (std::uint32_t t = 0; t < threads_; ++t)
    schedule.agents.push_back({.name = fmt::format("in {}", t), .numa_node = node});
  for (std::uint32_t t = 0; t < threads_ && out; ++t)
    schedule.agents.push_back({.name = fmt::format("out {}", t), .numa_node = node});
}

void StagingRings::add_rings(std::size_t array, Bytes stride) {
  stride_[array] = stride;
  const Array& a = job_.arrays[array];
  const auto ring = [&](const char* direction) {
    return schedule_.add_buffer({.name = fmt::format("ring of {} {}", a.name, direction),
                                 .place = Place::host(),
                                 .memory = MemoryKind::pinned,
                                 .size = stride * slots()});
  };
  if (is_input(a.role)) in_ring_[array] = ring("in");
  if (is_output(a.role)) out_ring_[array] = ring("out");
}

Region StagingRings::ring_slot(BufferId ring, std::size_t array, std::uint32_t chunk, Bytes length) const {
  return {ring, stride_[array] * (chunk % slots()), length};
}

StagingRings::Filled StagingRings::fill(std::size_t array, std::uint32_t chunk, std::uint32_t number,
                                        const ByteRange& bytes, OpId earlier) {
  const Region to = ring_slot(in_ring_[array], array, chunk, bytes.length);
  Op op{.what = move_to(job_, array, bytes, to, {}, true),
        .stream = {},
        .agent = agent(chunk),
        .after = {},
        .chunk = number};
  if (!earlier.is_none()) op.after.push_back(earlier);
  return {to, schedule_.add(std::move(op))};
}

StagingRings::Free StagingRings::free_slot(std::size_t array, std::uint32_t chunk, Bytes length) const {
  return {ring_slot(out_ring_[array], array, chunk, length),
          last_in_slot(chunk, [&](std::uint32_t c) { return emptied_[array][c]; })};
}

void StagingRings::empty(std::size_t array, std::uint32_t chunk, std::uint32_t number, OpId copy,
                         const ByteRange& bytes) {
  const Region slot = ring_slot(out_ring_[array], array, chunk, bytes.length);
  Op op{.what = move_back(job_, array, bytes, slot, {}, true),
        .stream = {},
        .agent = AgentId{first_agent_ + threads_ + chunk % threads_},
        .after = {copy},
        .chunk = number};
  emptied_[array][chunk] = schedule_.add(std::move(op));
}

}  // namespace shiplap
