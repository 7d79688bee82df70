#include "shiplap/strategy/device_ring.hpp"

#include <algorithm>
#include <iterator>

namespace shiplap {
namespace {

/// The bytes that the chunk shares with the one before.
Bytes shared(const ChunkReach& chunk) { return chunk.fresh.offset - chunk.reach.offset; }
Bytes end(const ByteRange& bytes) { return bytes.offset + bytes.length; }

}  // namespace

Bytes DeviceRing::offset_in_slot(Bytes in_array, Alignment aligned) {
  return Bytes{aligned == Alignment::in_array ? in_array.count % alignment.count : 0};
}

DeviceRing::Sizes DeviceRing::sizes(const std::vector<ChunkReach>& reaches, Alignment aligned) {
  Sizes sizes;
  for (const ChunkReach& chunk : reaches) sizes.extra = std::max(sizes.extra, shared(chunk) * 2);
  const bool slots = sizes.extra.count == 0;
  for (const ChunkReach& chunk : reaches)
    sizes.slot =
        std::max(sizes.slot, chunk.fresh.length + (slots ? offset_in_slot(chunk.fresh.offset, aligned) : Bytes{}));
  if (slots) sizes.slot = Bytes{(sizes.slot.count + alignment.count - 1) / alignment.count * alignment.count};
  return sizes;
}

// When the ring wraps, the shared bytes are copied from its end to its start, and the two must not overlap. The ring
// wraps only when less than a slot is left, so that an extra space of twice the shared bytes suffices.
DeviceRing::DeviceRing(const std::vector<ChunkReach>& reaches, std::uint32_t slots, Alignment aligned)
    : reaches_(reaches) {
  const auto chunks = static_cast<std::uint32_t>(reaches.size());
  const Sizes sizes = DeviceRing::sizes(reaches, aligned);
  shares_ = sizes.extra.count > 0;
  Bytes all;
  for (const ChunkReach& chunk : reaches) all += chunk.fresh.length;
  size_ = sizes.slot * slots + sizes.extra;
  if (shares_) size_ = std::min(size_, all);

  Bytes head;
  std::uint32_t brought_by = 0;
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const ChunkReach& chunk = reaches[c];
    Placement place;
    while (brought_by < c && end(reaches[brought_by].fresh) <= chunk.reach.offset) ++brought_by;
    place.first_brought_by = brought_by;
    const Bytes advance = shares_ ? chunk.fresh.length : sizes.slot;
    Bytes from = head;
    if (head + advance > size_) {
      place.moved = shared(chunk);
      place.moved_from = head - place.moved;
      from = Bytes{0};
      head = place.moved;
    }
    place.fresh = shares_ ? head : head + offset_in_slot(chunk.fresh.offset, aligned);
    place.reach = place.fresh - shared(chunk);
    head += advance;
    if (shares_)
      place.overwritten = overwrite({c, from, head, end(chunk.fresh) - (head - from)});
    else
      place.overwritten = before_in_slot(c, slots);
    placements_.push_back(std::move(place));
  }
}

DeviceRing DeviceRing::whole(const std::vector<ChunkReach>& reaches, Bytes size) {
  DeviceRing ring;
  ring.size_ = size;
  std::uint32_t brought_by = 0;
  for (std::uint32_t c = 0; c < reaches.size(); ++c) {
    const ChunkReach& chunk = reaches[c];
    while (brought_by < c && end(reaches[brought_by].fresh) <= chunk.reach.offset) ++brought_by;
    ring.shares_ = ring.shares_ || shared(chunk).count > 0;
    ring.placements_.push_back({.reach = chunk.reach.offset,
                                .fresh = chunk.fresh.offset,
                                .moved_from = {},
                                .moved = {},
                                .first_brought_by = brought_by});
  }
  return ring;
}

// The last chunk before this one that used the same slot. A chunk without fresh bytes does not use its slot.
std::vector<DeviceRing::Overwritten> DeviceRing::before_in_slot(std::uint32_t chunk, std::uint32_t slots) const {
  while (chunk >= slots)
    if (reaches_[chunk -= slots].fresh.length.count > 0) return {{chunk, chunk, std::nullopt}};
  return {};
}

// Cuts what the ring holds at both ends of the new bytes, and names the chunks of the bytes in between. Held bytes
// do not overlap, so the first ones that the new bytes reach are found by their place.
std::vector<DeviceRing::Overwritten> DeviceRing::overwrite(const HeldBytes& by) {
  std::vector<HeldBytes> gone;
  auto held = held_.lower_bound(by.from);
  if (held != held_.begin() && std::prev(held)->second.to > by.from) --held;
  while (held != held_.end() && held->first < by.to) {
    gone.push_back(held->second);
    held = held_.erase(held);
  }
  for (const HeldBytes& part : gone) {
    if (part.from < by.from) held_.emplace(part.from, HeldBytes{part.chunk, part.from, by.from, part.in_array});
    if (part.to > by.to)
      held_.emplace(by.to, HeldBytes{part.chunk, by.to, part.to, part.in_array + (by.to - part.from)});
  }
  if (by.from < by.to) held_.emplace(by.from, by);

  std::ranges::stable_sort(gone, {}, &HeldBytes::chunk);
  std::vector<Overwritten> found;
  for (const HeldBytes& part : gone) {
    const Bytes end = part.in_array + (std::min(part.to, by.to) - part.from);
    const Overwritten now = users(part.chunk, end, by.chunk);
    if (found.empty() || found.back().chunk != part.chunk) {
      found.push_back(now);
      continue;
    }
    found.back().last_reader = std::max(found.back().last_reader, now.last_reader);
    if (now.mover) found.back().mover = now.mover;
  }
  return found;
}

// The use of the bytes of chunk `of` below `end`, an offset in the array, by the chunks up to `before`. The reach of a
// later chunk never starts further back. From the chunk on for which the bytes were moved, kernels read the copy at the
// start of the ring.
DeviceRing::Overwritten DeviceRing::users(std::uint32_t of, Bytes end, std::uint32_t before) const {
  Overwritten result{of, of, std::nullopt};
  for (std::uint32_t next = of + 1; next < before && reaches_[next].reach.offset < end; ++next) {
    if (placements_[next].moved.count > 0) {
      result.mover = next;
      break;
    }
    result.last_reader = next;
  }
  return result;
}

}  // namespace shiplap
