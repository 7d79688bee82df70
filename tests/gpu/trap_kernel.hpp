// A kernel that breaks: what it does to the GPU's context no call of the process can mend.
#pragma once

namespace shiplap::testing {

/// Launches it in a cudaStream_t. The launch itself succeeds, unless launches wait for their kernels
/// (CUDA_LAUNCH_BLOCKING=1).
void launch_trap(void* stream);

}  // namespace shiplap::testing
