#include "shiplap/device/pinned_regions.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace shiplap {

Error pinned_in_part(Bytes size) {
  return Error(
      fmt::format("of {} only a part is pinned, and no copy may cross the border of a pinned range: pin all of it, or "
                  "unpin that part",
                  to_string(size)));
}

const std::shared_ptr<PinnedRegions>& PinnedRegions::of_process() {
  // Never destroyed: threads may hold memory while the process ends.
  static const auto& ranges = *new std::shared_ptr<PinnedRegions>(std::make_shared<PinnedRegions>());
  return ranges;
}

std::map<std::byte*, PinnedRegions::Range>::iterator PinnedRegions::range_at(std::byte* data) {
  const auto behind = ranges_.upper_bound(data);
  if (behind == ranges_.begin()) return behind;
  const auto before = std::prev(behind);
  return before->second.end > data ? before : behind;
}

Memory PinnedRegions::hold(std::byte* data, Bytes size, Functions functions) {
  std::byte* const end = data + size.count;
  const std::lock_guard guard(mutex_);
  auto range = range_at(data);
  const bool overlaps = range != ranges_.end() && range->first < end;
  if (overlaps && (range->first > data || range->second.end < end))
    throw Error(
        fmt::format("{} are to be pinned, of which a part is pinned already with other memory ({} from its byte {} "
                    "on): end what holds that memory first, or pin the longer range before its parts",
                    to_string(size), to_string(Bytes{static_cast<std::uint64_t>(range->second.end - range->first)}),
                    range->first - data));
  if (!overlaps && functions.is_pinned()) return {data, size, Place::host(), MemoryKind::pinned, [](std::byte*) {}};
  if (!overlaps) range = ranges_.try_emplace(data, Range{.end = end}).first;
  // Made before anything is pinned, because there may be no memory for it.
  Memory::Release release;
  try {
    release = [self = shared_from_this(), first = range->first, unpin = std::move(functions.unpin)](std::byte*) {
      const std::lock_guard last(self->mutex_);
      const auto held = self->ranges_.find(first);
      if (--held->second.holders > 0) return;
      self->ranges_.erase(held);
      unpin(first);
    };
    if (!overlaps) functions.pin();
  } catch (...) {
    if (!overlaps) ranges_.erase(range);
    throw;
  }
  ++range->second.holders;
  return {data, size, Place::host(), MemoryKind::pinned, std::move(release)};
}

void PinnedRegions::try_to_pin(std::byte* data, const Functions& functions) {
  const std::lock_guard guard(mutex_);
  const auto range = range_at(data);
  const bool is_held = range != ranges_.end() && range->first <= data;
  if (is_held || functions.is_pinned()) return;
  functions.pin();
  functions.unpin(data);
}

}  // namespace shiplap
