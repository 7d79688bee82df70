// Arrays of a step that are parts of each other's memory, as one array.
#pragma once

#include "shiplap/workload/step.hpp"

namespace shiplap {

/// The step with one array for all arrays of its kernels that overlap in memory: the memory of all of them together,
/// under the name of the largest. A kernel that uses a part of it has a mapping to that part, and is called with the
/// same indices as before. Throws UsageError for elements of different sizes, a part that does not begin at an element,
/// and a carried or kept part.
Step with_whole_arrays(Step);

}  // namespace shiplap
