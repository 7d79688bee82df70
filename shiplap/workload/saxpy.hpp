// saxpy: y = a·x + y over n floats (Harris 2012). x goes in, y goes in and comes back.
#pragma once

#include "shiplap/workload/workload.hpp"

namespace shiplap {

Workload saxpy(std::uint64_t n, const CudaKernels&);

}  // namespace shiplap
