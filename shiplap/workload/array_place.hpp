// Where the memory of an array is, and whether its bytes cross the link.
#pragma once

#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Whether the caller's memory is on the GPU already. Kernels access the array where it is, and nothing of it is
/// copied.
inline bool is_on_gpu(const Array& array) { return array.memory == MemoryKind::device; }
/// The place of the caller's memory.
inline Place place_of(const Array& array) { return is_on_gpu(array) ? Place::gpu() : Place::host(); }
/// Whether chunks of the array are copied to the GPU.
inline bool is_copied_in(const Array& array) { return is_input(array.role) && !is_on_gpu(array); }
/// Whether chunks of the array are copied back.
inline bool is_copied_out(const Array& array) { return is_output(array.role) && !is_on_gpu(array); }
/// Whether each run copies the array to the GPU as a whole before its kernels.
bool is_copied_whole(const Array&);

}  // namespace shiplap
