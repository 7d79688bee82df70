// The one builder behind the chunked strategies: copy in, kernel, copy out for every chunk, over a ring of device
// buffers.
#pragma once

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

/// Throws Unsupported that says what to do unless all arrays live in such memory. Those that stay on the GPU may be
/// pageable all the same, and anywhere for strategies of memory that is not page-locked.
void require_memory(const Job&, ArrayMemory, std::string_view strategy);
/// Throws UsageError for a front of an array that cannot have one (see Array::front_of).
void require_fronts(const Job&);
/// Throws Unsupported when the choice wants a graph: host threads take part in the strategy.
void require_no_graph(const Choice&, std::string_view strategy);

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
