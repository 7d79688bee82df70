// Several planted GPUs whose copies between each other are known, as on a node with NVLink.
#pragma once

#include "shiplap/profile/more_gpus.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {

/// GPUs like the planted one, each with a link of its own and direct copies to every other.
inline Profile linked_gpus(std::uint32_t gpus) {
  Profile profile = with_gpus(planted_profile(), gpus);
  const auto at = [](Bytes size, double us) { return TimeAt{size, Interval<Seconds>::exact(microseconds(us))}; };
  for (std::uint16_t from = 0; from < gpus; ++from)
    for (std::uint16_t to = 0; to < gpus; ++to)
      if (from != to)
        profile.peers.push_back({.from = from,
                                 .to = to,
                                 .direct = {at(4_KiB, 2.3), at(1_MiB, 5.1), at(16_MiB, 46), at(256_MiB, 680)},
                                 .staged = {at(1_MiB, 40), at(256_MiB, 9700)}});
  return profile;
}

/// The same where all links together move no more than `times` what one moves in each direction.
inline Profile linked_gpus_behind_uplink(std::uint32_t gpus, double times) {
  Profile profile = linked_gpus(gpus);
  const auto rate = [&](const DirectionModel& one) {
    return Interval<Bandwidth>::exact(Bandwidth{times / one.per_byte.value.seconds});
  };
  SharedRates shared{.gpus = {}, .h2d = rate(profile.link(0).h2d), .d2h = rate(profile.link(0).d2h), .both = {}};
  for (std::uint16_t gpu = 0; gpu < gpus; ++gpu) shared.gpus.push_back(gpu);
  shared.both = Interval<Bandwidth>::exact({shared.h2d.value.bytes_per_second + shared.d2h.value.bytes_per_second});
  profile.shared = {shared};
  return profile;
}

}  // namespace shiplap
