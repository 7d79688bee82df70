// What the papers' closed forms want to know of a job, a choice and a profile.
#pragma once

#include <cstdint>
#include <optional>

#include "shiplap/model/van_werkhoven_2014.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

/// The device category of van Werkhoven et al. 2014, section IV, the GPU's or the one that the layout emulates; nullopt
/// for copies that are held until the last kernel has started and for emulated ones that are not submitted
/// breadth-first, for which the paper has no form.
std::optional<van_werkhoven_2014::Category> paper_category(const GpuModel&, const Choice&);

/// The parameters of the papers' closed forms for a job cut into `chunks`; nullopt when the profile has no link.
/// With `overlapping`, G and g are those under bidirectional load where the profile has them (Table II).
std::optional<van_werkhoven_2014::Work> paper_parameters(const Job&, std::uint32_t chunks, const Profile&,
                                                         bool overlapping);

}  // namespace shiplap
