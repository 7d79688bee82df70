#include "shiplap/strategy/device_ring.hpp"

#include <algorithm>

namespace shiplap {
namespace {

/// The bytes that the chunk shares with the one before.
Bytes shared(const ChunkReach& piece) { return piece.fresh.offset - piece.reach.offset; }
Bytes end(const ByteRange& slice) { return slice.offset + slice.length; }

}  // namespace

Bytes DeviceRing::offset_in_slot(Bytes in_array, Alignment aligned) {
  return Bytes{aligned == Alignment::in_array ? in_array.count % alignment.count : 0};
}

DeviceRing::Room DeviceRing::room(const std::vector<ChunkReach>& pieces, Alignment aligned) {
  Room room;
  for (const ChunkReach& piece : pieces) room.beyond = std::max(room.beyond, shared(piece) * 2);
  const bool slots = room.beyond.count == 0;
  for (const ChunkReach& piece : pieces)
    room.each_slot =
        std::max(room.each_slot, piece.fresh.length + (slots ? offset_in_slot(piece.fresh.offset, aligned) : Bytes{}));
  if (slots) room.each_slot = Bytes{(room.each_slot.count + alignment.count - 1) / alignment.count * alignment.count};
  return room;
}

// Where the ring starts again, the shared bytes are copied from its end to its start, and the two must not overlap. The
// ring starts again only when less than a slot is left, so twice the shared bytes beyond the slots are enough room.
DeviceRing::DeviceRing(const std::vector<ChunkReach>& pieces, std::uint32_t slots, Alignment aligned)
    : pieces_(pieces) {
  const auto chunks = static_cast<std::uint32_t>(pieces.size());
  const Room room = DeviceRing::room(pieces, aligned);
  shares_ = room.beyond.count > 0;
  Bytes all;
  for (const ChunkReach& piece : pieces) all += piece.fresh.length;
  size_ = room.each_slot * slots + room.beyond;
  if (shares_) size_ = std::min(size_, all);

  Bytes head;
  std::uint32_t brought_by = 0;
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const ChunkReach& piece = pieces[c];
    Placement place;
    while (brought_by < c && end(pieces[brought_by].fresh) <= piece.reach.offset) ++brought_by;
    place.first_brought_by = brought_by;
    const Bytes advance = shares_ ? piece.fresh.length : room.each_slot;
    Bytes from = head;
    if (head + advance > size_) {
      place.moved = shared(piece);
      place.moved_from = head - place.moved;
      from = Bytes{0};
      head = place.moved;
    }
    place.fresh = shares_ ? head : head + offset_in_slot(piece.fresh.offset, aligned);
    place.reach = place.fresh - shared(piece);
    head += advance;
    if (shares_)
      place.overwritten = overwrite({c, from, head, end(piece.fresh) - (head - from)});
    else
      place.overwritten = before_in_slot(c, slots);
    placements_.push_back(std::move(place));
  }
}

// The chunk that used the slot last. A chunk without fresh bytes does not use its slot.
std::vector<DeviceRing::Overwritten> DeviceRing::before_in_slot(std::uint32_t chunk, std::uint32_t slots) const {
  while (chunk >= slots)
    if (pieces_[chunk -= slots].fresh.length.count > 0) return {{chunk, chunk, std::nullopt}};
  return {};
}

// Splits what the ring holds at both ends of the new bytes, and names the chunks of the bytes in between.
std::vector<DeviceRing::Overwritten> DeviceRing::overwrite(const Held& by) {
  std::vector<Overwritten> found;
  std::vector<Held> left;
  for (const Held& held : held_) {
    if (held.to <= by.from || held.from >= by.to) {
      left.push_back(held);
      continue;
    }
    const Bytes gone = held.in_array + (std::min(held.to, by.to) - held.from);
    const Overwritten now = users(held.chunk, gone, by.chunk);
    if (found.empty() || found.back().chunk != held.chunk) {
      found.push_back(now);
    } else {
      found.back().last_reader = std::max(found.back().last_reader, now.last_reader);
      if (now.mover) found.back().mover = now.mover;
    }
    if (held.from < by.from) left.push_back({held.chunk, held.from, by.from, held.in_array});
    if (held.to > by.to) left.push_back({held.chunk, by.to, held.to, held.in_array + (by.to - held.from)});
  }
  if (by.from < by.to) left.push_back(by);
  held_ = std::move(left);
  return found;
}

// The chunks up to `before` that read bytes of chunk `of` below `end`, an offset in the array. A later chunk never
// reaches further back. From the chunk on for which the bytes were moved, kernels read the copy at the start of the
// ring.
DeviceRing::Overwritten DeviceRing::users(std::uint32_t of, Bytes end, std::uint32_t before) const {
  Overwritten result{of, of, std::nullopt};
  for (std::uint32_t next = of + 1; next < before && pieces_[next].reach.offset < end; ++next) {
    if (placements_[next].moved.count > 0) {
      result.mover = next;
      break;
    }
    result.last_reader = next;
  }
  return result;
}

}  // namespace shiplap
