#include "shiplap/sim/residency.hpp"

#include <iterator>

namespace shiplap::sim {

Residency::Residency(const Schedule& schedule) {
  for (const Buffer& buffer : schedule.buffers) {
    Stretches& stretches = buffers_.emplace_back();
    if (pages_move(buffer) && buffer.size.count > 0)
      stretches.emplace(0, Stretch{.end = buffer.size.count, .place = buffer.place});
  }
}

bool Residency::is_managed(BufferId buffer) const { return !buffers_[buffer.index()].empty(); }

Bytes Residency::move(const Region& region, Place to) {
  Stretches& stretches = buffers_[region.buffer.index()];
  const std::uint64_t begin = region.offset.count;
  const std::uint64_t end = begin + region.length.count;
  split(stretches, begin);
  split(stretches, end);
  Bytes moved;
  auto it = stretches.lower_bound(begin);
  while (it != stretches.end() && it->first < end) {
    if (it->second.place != to) moved += Bytes{it->second.end - it->first};
    it = stretches.erase(it);
  }
  stretches.emplace_hint(it, begin, Stretch{.end = end, .place = to});
  return moved;
}

// Splits the stretch that contains `at` so that one starts at `at`.
void Residency::split(Stretches& stretches, std::uint64_t at) {
  auto it = stretches.upper_bound(at);
  if (it == stretches.begin()) return;
  --it;
  if (it->first == at || it->second.end <= at) return;
  const Stretch tail = it->second;
  it->second.end = at;
  stretches.emplace(at, tail);
}

}  // namespace shiplap::sim
