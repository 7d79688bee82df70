// The same work by the best library, where there is one.
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

/// Those that do the work of the job on these operands, with what they need set up. For a job that no library does: a
/// copy on the GPU of half the bytes that its kernel reads and writes, which reads and writes as many.
std::vector<Library> libraries_for(const shiplap::Job&, const std::vector<std::byte*>& operands);

}  // namespace kernel_bench
