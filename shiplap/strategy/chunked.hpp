// The one builder behind the chunked strategies: copy in, kernel, copy out for every chunk, over a ring of device
// buffers.
#pragma once

#include "shiplap/model/van_werkhoven_2014.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

/// The schedule of a job cut into `choice.chunks` chunks. Only needed dependencies: data from copy to kernel to copy,
/// and the ring's slots, each reused when its last chunk is done with it.
Schedule chunked_schedule(const Job&, const Choice&, const Limits&);

/// Throws Unsupported unless all arrays that are copied live in page-locked memory.
void require_pinned(const Job&, std::string_view strategy);

/// The parameters of the papers' closed forms for a job cut into `chunks`; nullopt when the profile has no link.
/// With `overlapping`, G and g are those under bidirectional load where the profile has them (Table II).
std::optional<van_werkhoven_2014::Work> paper_parameters(const Job&, std::uint32_t chunks, const Profile&,
                                                         bool overlapping);

/// Defined in explicit.cpp and streams.cpp; listed in strategy.cpp.
extern const Strategy explicit_strategy;
extern const Strategy streams_strategy;

}  // namespace shiplap
