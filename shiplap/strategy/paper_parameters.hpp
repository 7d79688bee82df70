// The parameters of the papers' closed forms, from a job, a choice and a profile.
#pragma once

#include <cstdint>
#include <optional>

#include "shiplap/model/van_werkhoven_2014.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

/// The device category of the GPU (van Werkhoven et al. 2014, section IV), or the one that the layout emulates. nullopt
/// when the paper has no form: for GPUs that hold a copy until the last kernel has started, and for emulated categories
/// that are not submitted breadth-first.
std::optional<van_werkhoven_2014::Category> paper_category(const GpuModel&, const Choice&);

/// The parameters of the papers' closed forms for a job in `chunks` chunks; nullopt when the profile has no link or the
/// kernel's cost is unknown. When `overlapping`, G and g are those of duplex if the profile has them (Table II).
std::optional<van_werkhoven_2014::Work> paper_parameters(const Job&, std::uint32_t chunks, const Profile&,
                                                         bool overlapping);

/// t_sc of Gómez-Luna et al. 2012: what making a stream costs the host; nullopt when the profile does not have it.
std::optional<Seconds> cost_of_stream(const Profile&);

}  // namespace shiplap
