// Several jobs as one: each chunk passes through all of their kernels while it is on the GPU.
#pragma once

#include <functional>
#include <span>

#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Whether two descriptions are of one array: they have the same memory, or the same name where only the shape is
/// known. Throws UsageError when their memory overlaps and is not the same.
bool is_same_array(const Array&, const Array&);

/// One job that does what the jobs do one after the other. The kernel of a chunk runs the kernels of all jobs in their
/// order, and what they hand to each other stays on the GPU. Where a later kernel reads a halo of what an earlier one
/// has written, the earlier one computes that halo too (overlapped tiling).
///
/// `is_needed` says whether anybody reads the array after the last job. An array that only these jobs write and read
/// and nobody needs is scratch of the result. The items of all jobs must be multiples of the fewest. The cost of the
/// result is the sum of the costs, with what is computed twice.
///
/// Throws Unsupported with the reason where chunks cannot pass through all kernels: a kernel that needs all of an array
/// which an earlier one writes, sums over all chunks that a later kernel reads, an array that is read with a halo and
/// written in the same pass and needed afterwards.
Job fuse(std::span<const Job> jobs, const std::function<bool(const Array&)>& is_needed);

}  // namespace shiplap
