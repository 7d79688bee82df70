// The rows of a link whose bytes do not come from pinned memory, each with the copies of pinned memory that cross the
// same link.
#pragma once

#include <algorithm>
#include <vector>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Calls `visit(rows, direction)` for the times of copies of pageable memory and of moves of managed memory. Copies in
/// both directions come with the slower one. `rows` are `RateOfThreads` for pages that host threads touch, else
/// `TimeAt`.
template <class Visit>
void for_each_unpinned(LinkModel& link, const Visit& visit) {
  const DirectionModel& slower = link.h2d.per_byte.value < link.d2h.per_byte.value ? link.d2h : link.h2d;
  if (link.pageable) {
    visit(link.pageable->h2d, link.h2d);
    visit(link.pageable->d2h, link.d2h);
    visit(link.pageable->both, slower);
  }
  if (link.managed) {
    visit(link.managed->prefetch_h2d, link.h2d);
    visit(link.managed->prefetch_d2h, link.d2h);
    visit(link.managed->demand_h2d, link.h2d);
    visit(link.managed->demand_d2h, link.d2h);
  }
}

/// Makes the times and rates no faster than copies of pinned memory, at each end of their intervals.
inline void no_faster_than(std::vector<TimeAt>& rows, const DirectionModel& pinned) {
  const Interval<PerByte>& g = pinned.per_byte;
  for (auto& [size, time] : rows)
    time = {std::max(time.value, size * g.value), std::max(time.low, size * g.low),
            std::max(time.high, size * g.value)};
}
inline void no_faster_than(std::vector<RateOfThreads>& rows, const DirectionModel& pinned) {
  const Bandwidth rate_of_pinned = bandwidth(pinned.per_byte.value);
  for (auto& [threads, rate] : rows)
    rate = {std::min(rate.value, rate_of_pinned), std::min(rate.low, rate_of_pinned),
            std::min(rate.high, bandwidth(pinned.per_byte.low))};
}

}  // namespace shiplap
