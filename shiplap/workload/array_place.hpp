// Where the memory of an array is, and whether its bytes cross the link.
#pragma once

#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Whether the caller's memory is on the GPU already. Kernels access the array where it is, and nothing of it is
/// copied.
inline bool is_on_gpu(const Array& array) { return array.memory == MemoryKind::device; }
/// The place of the caller's memory.
inline Place place_of(const Array& array) { return is_on_gpu(array) ? Place::gpu() : Place::host(); }
/// Whether what kernels read of the array is copied to the GPU.
inline bool arrives(const Array& array) { return !is_on_gpu(array) && (!array.home || array.home->arrives); }
/// Whether what kernels write of the array is copied back.
inline bool leaves(const Array& array) { return !is_on_gpu(array) && (!array.home || array.home->leaves); }
/// Whether any of it may cross the link.
inline bool crosses_link(const Array& array) {
  return array.role != Role::scratch && (arrives(array) || leaves(array));
}
/// Whether chunks of the array are copied to the GPU.
inline bool is_copied_in(const Array& array) { return is_input(array.role) && arrives(array); }
/// Whether chunks of the array are copied back.
inline bool is_copied_out(const Array& array) { return is_output(array.role) && leaves(array); }
/// Whether each run copies the array as a whole, to the GPU before its kernels (`arrives`) or back after them.
bool is_copied_whole(const Array&);
/// When one array that is cut is pageable, treats all of them so, because a strategy uses one kind of memory.
void treat_all_as_pageable_if_one_is(Job&);

}  // namespace shiplap
