// The same work by the best library, if there is one.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/job.hpp"

namespace kernel_bench {

inline void check(cudaError_t status) {
  if (status != cudaSuccess) throw shiplap::Error(cudaGetErrorString(status));
}

struct Library {
  std::string name;
  std::function<void(cudaStream_t)> enqueue;
};

/// Library calls that do the work of the job on these operands, ready to run. For a job without a library, a
/// device-to-device copy of half the bytes that its kernel accesses, which reads and writes as many bytes as the
/// kernel.
std::vector<Library> libraries_for(const shiplap::Job&, const std::vector<std::byte*>& operands);

}  // namespace kernel_bench
