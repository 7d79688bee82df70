// Limits on the use of a GPU by a schedule.
#pragma once

#include <cstdint>

#include "shiplap/core/units.hpp"

namespace shiplap {

struct Profile;

/// The device memory that a schedule may use on each GPU, and the numbers of threads that each GPU and the host hold.
struct Limits {
  Bytes device_memory;                 ///< size of all device buffers together
  std::uint64_t resident_threads = 0;  ///< threads that the GPU holds at once; 0: every kernel fills the GPU
  unsigned host_threads = 0;           ///< hardware threads of the host that the process may use; 0: all of them

  /// The limits with at most `most` bytes of device memory.
  Limits at_most(Bytes most) const {
    return {device_memory < most ? device_memory : most, resident_threads, host_threads};
  }
  /// The limits with the fraction `numerator / denominator` of the device memory, for users that share it.
  Limits fraction(unsigned numerator, unsigned denominator) const {
    return {device_memory / denominator * numerator, resident_threads, host_threads};
  }
  /// Whether buffers of this total size may be used.
  bool holds(Bytes size) const { return size <= device_memory; }
  /// Number of slots of `per_slot` bytes that may be used in addition to `fixed` bytes, at most `most`.
  std::uint64_t slots(Bytes fixed, Bytes per_slot, std::uint64_t most) const {
    if (per_slot.count == 0) return most;
    const std::uint64_t free = holds(fixed) ? (device_memory - fixed).count / per_slot.count : 0;
    return free < most ? free : most;
  }
};
/// The limits of the profile's first GPU. Schedules may use four fifths of its memory. The driver, the context and
/// buffers of measurements beside a run use the rest. Throws Unsupported for a profile without a GPU.
Limits limits_of(const Profile&);

}  // namespace shiplap
