// How much of a GPU a schedule may use.
#pragma once

#include <algorithm>
#include <cstdint>

#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The device memory that the buffers of a schedule may take on each GPU, and the size of its GPUs for kernels.
struct Limits {
  Bytes device_memory;                 ///< for all device buffers together
  std::uint64_t resident_threads = 0;  ///< threads that the GPU holds at once; 0: every kernel fills the GPU

  /// The same limits with no more device memory than `most`.
  Limits at_most(Bytes most) const { return {std::min(device_memory, most), resident_threads}; }
  /// The same limits for one of several that share the memory: `parts` of `all` equal parts of it.
  Limits fraction(unsigned parts, unsigned all) const { return {device_memory / all * parts, resident_threads}; }
  /// Whether buffers of this size in all may be used.
  bool holds(Bytes size) const { return size <= device_memory; }
  /// How many slots of this size may be used beside `fixed` bytes, at most `most`.
  std::uint64_t slots(Bytes fixed, Bytes per_slot, std::uint64_t most) const {
    if (per_slot.count == 0) return most;
    return holds(fixed) ? std::min(most, (device_memory - fixed).count / per_slot.count) : 0;
  }
};
/// The limits of the profile's first GPU: four fifths of its memory. The driver, the context and the buffers that
/// measure the bound beside a run need the rest. Throws Unsupported for a profile without a GPU.
Limits limits_of(const Profile&);

}  // namespace shiplap
