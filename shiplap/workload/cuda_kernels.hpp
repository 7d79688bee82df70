// The CUDA side of the built-in workloads: functions that enqueue their kernels. Empty in a build without CUDA.
#pragma once

#include <cstdint>

#include "shiplap/device/bindings.hpp"

namespace shiplap {

/// Parameters of scalar-add: each item of the job is `in_per_item` inputs and `out_per_item` outputs (int32).
struct ScalarAddShape {
  std::uint64_t in_per_item = 1;
  std::uint64_t out_per_item = 1;
  std::uint32_t scalar = 1;
  std::uint32_t iterations = 1;
};

struct CudaKernels {
  KernelFunction (*saxpy)(float a) = nullptr;
  KernelFunction (*scalar_add)(const ScalarAddShape&) = nullptr;
  /// Stand-in for a stated kernel: the launch takes `time_per_item` × items and writes every output byte from the
  /// inputs.
  KernelFunction (*stated)(double seconds_per_item) = nullptr;
};

/// The table of this build.
const CudaKernels& cuda_kernels();

}  // namespace shiplap
