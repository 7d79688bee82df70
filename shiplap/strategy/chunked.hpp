// The one builder behind the chunked strategies: copy in, kernel, copy out for every chunk, over a ring of device
// buffers.
#pragma once

#include "shiplap/strategy/requirements.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

/// Which arrays the kernels access where they are, in host memory, instead of having them copied. Resident arrays are
/// always copied; an array that goes in and comes back counts as output; scratch is on the GPU.
struct Mapping {
  bool in = false;
  bool out = false;
  bool covers(Role role) const { return role == Role::in ? in : is_output(role) && out; }
};

/// How arrays in pageable memory get to the GPU: through page-locked rings that host threads fill, and others that they
/// empty. 0 threads: as they are.
struct Staging {
  std::uint32_t threads = 0;  ///< each way
};

/// The schedule of a job cut into `choice.chunks` chunks. Only needed dependencies: data from copy to kernel to copy,
/// and the ring's slots, each reused when its last chunk is done with it.
Schedule chunked_schedule(const Job&, const Choice&, const Limits&, const Mapping& = {}, const Staging& = {});

/// `Strategy::predict` of those without a closed form: the papers know page-locked memory only.
inline std::optional<Seconds> no_form(const Job&, const Choice&, const Profile&) { return std::nullopt; }

/// Defined in the files of their names; listed in strategy.cpp.
extern const Strategy explicit_strategy;
extern const Strategy streams_strategy;
extern const Strategy implicit_strategy;
extern const Strategy hybrid_strategy;
extern const Strategy hybrid_mirror_strategy;
extern const Strategy pageable_strategy;
extern const Strategy staged_strategy;
extern const Strategy managed_strategy;
extern const Strategy managed_prefetch_strategy;

}  // namespace shiplap
