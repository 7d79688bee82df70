// The builder of pipelines: copies in, kernel and copies out for every chunk, on one GPU or several. All strategies but
// those for managed memory use it.
#pragma once

#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/requirements.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {

/// The arrays that kernels access in pinned host memory (zero-copy) instead of a copy on the GPU. Arrays that stay on
/// the GPU or have memory there are always copied, scratch is always on the GPU, and an array that is there already is
/// accessed there.
struct ZeroCopyArrays {
  bool in = false;   ///< the `in` arrays
  bool out = false;  ///< the `out` and `inout` arrays
  bool covers(const Array& array) const {
    return !is_on_gpu(array) && !array.home && (array.role == Role::in ? in : is_output(array.role) && out);
  }
};

/// How pageable arrays are copied.
struct Staging {
  /// Number of host threads in each direction that copy chunks through pinned rings. 0: the driver copies pageable
  /// memory.
  std::uint32_t threads = 0;
};

/// The schedule of a job in `choice.chunks` chunks on each GPU. An op waits only for the data that it reads, and until
/// earlier chunks no longer use the memory that it overwrites. Throws as `Strategy::schedule` does.
Schedule chunked_schedule(const Job&, const Choice&, const Limits&, const ZeroCopyArrays& = {}, const Staging& = {});

/// `Strategy::closed_form` of a strategy without a closed form. The papers have forms for pinned memory only.
inline std::optional<ClosedForm> no_closed_form(const Job&, const Choice&, const Profile&) { return std::nullopt; }

// Each strategy is defined in the file of the memory that it is for, and listed in strategy.cpp.
extern const Strategy explicit_strategy;
extern const Strategy streams_strategy;
extern const Strategy implicit_strategy;
extern const Strategy hybrid_strategy;
extern const Strategy hybrid_mirror_strategy;
extern const Strategy pageable_strategy;
extern const Strategy staged_strategy;
extern const Strategy managed_strategy;
extern const Strategy managed_prefetch_strategy;
extern const Strategy managed_implicit_strategy;

}  // namespace shiplap
