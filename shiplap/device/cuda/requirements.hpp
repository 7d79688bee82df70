// Checks that a schedule and its bindings can run on CUDA GPUs, made before any resource is created.
#pragma once

#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/gpu_set.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Throws Unsupported, naming the op, for ops that the CUDA device does not run: streams on the host, GPUs beyond the
/// first `gpus`, kernels that access pageable memory. The schedule must be sound.
void require_supported(const Schedule&, std::size_t gpus);

/// Throws Error unless every buffer is bound to memory of the kind that the schedule says, and Unsupported when a
/// kernel has no CUDA function.
void require_fitting(const Schedule&, const Bindings&, const GpuSet&, const Api&);

}  // namespace shiplap
