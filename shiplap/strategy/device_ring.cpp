#include "shiplap/strategy/device_ring.hpp"

#include <algorithm>

namespace shiplap {
namespace {

Bytes shared(const Piece& piece) { return piece.fresh.offset - piece.reach.offset; }
Bytes end(const Slice& slice) { return slice.offset + slice.length; }

}  // namespace

Bytes DeviceRing::offset_in_slot(Bytes in_array, Alignment aligned) {
  return Bytes{aligned == Alignment::in_array ? in_array.count % alignment.count : 0};
}

DeviceRing::Room DeviceRing::room(const std::vector<Piece>& pieces, Alignment aligned) {
  Room room;
  for (const Piece& piece : pieces) room.beyond = std::max(room.beyond, shared(piece) * 2);
  const bool slots = room.beyond.count == 0;
  for (const Piece& piece : pieces)
    room.each_slot =
        std::max(room.each_slot, piece.fresh.length + (slots ? offset_in_slot(piece.fresh.offset, aligned) : Bytes{}));
  if (slots) room.each_slot = Bytes{(room.each_slot.count + alignment.count - 1) / alignment.count * alignment.count};
  return room;
}

// At the seam the part that is needed again has to move past itself: twice that part beyond the slots makes sure that
// it does, since the seam comes only when what is left is less than a slot.
DeviceRing::DeviceRing(const std::vector<Piece>& pieces, std::uint32_t slots, Alignment aligned) : pieces_(pieces) {
  const auto chunks = static_cast<std::uint32_t>(pieces.size());
  const Room room = DeviceRing::room(pieces, aligned);
  shares_ = room.beyond.count > 0;
  Bytes all;
  for (const Piece& piece : pieces) all += piece.fresh.length;
  size_ = room.each_slot * slots + room.beyond;
  if (shares_) size_ = std::min(size_, all);

  Bytes head;
  std::uint32_t brought_by = 0;
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const Piece& piece = pieces[c];
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

// The chunk that used a slot last; one that brought nothing did not.
std::vector<DeviceRing::Overwritten> DeviceRing::before_in_slot(std::uint32_t chunk, std::uint32_t slots) const {
  while (chunk >= slots)
    if (pieces_[chunk -= slots].fresh.length.count > 0) return {{chunk, chunk, std::nullopt}};
  return {};
}

// Whose bytes lay there. What is left of them stays theirs.
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

// Of bytes of the array that end there: reaches only go on, and from the seam on it is the copy at the front that is
// read.
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
