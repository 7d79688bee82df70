// A profile in which every kind of member has a value, but for one parameter.
#pragma once

#include "shiplap/profile/profile.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {

/// The planted profile with intervals, every kind of list filled, and one parameter absent.
inline Profile full_profile() {
  Profile profile = planted_profile();
  profile.links[0].h2d.costs[1].gap = {microseconds(2.65), microseconds(2.6), microseconds(2.8)};
  profile.links[0].d2h.per_byte = {per_byte(gigabytes_per_second(54)), per_byte(gigabytes_per_second(54.4)),
                                   per_byte(gigabytes_per_second(53.1))};
  profile.gpus[0].flop_rate = std::nullopt;
  profile.missing = {{"gpus[0].flop_rate", "left out by the test"}};
  profile.residuals = {{"links[0].h2d.costs", 0.0123, "4 MiB x 64"}};
  profile.measurements = {{.primitive = "copy.pinned.h2d",
                           .arguments = {{"bytes", 4096}, {"copies", 16}},
                           .clock = "events",
                           .samples_us = {4.6, 4.61234567, 5},
                           .verified = true}};
  return profile;
}
}  // namespace shiplap
