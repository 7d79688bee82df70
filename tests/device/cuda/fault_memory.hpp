// Memory of a transfer on the CUDA device, with a kernel that inverts on the host.
#pragma once

#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/cuda/probe_kernels.hpp"
#include "tests/device/suite/transfer_memory.hpp"

namespace shiplap::testing {

/// Inverts by itself, and makes the call that a real one makes: the fake refuses it on another GPU than the stream's.
inline KernelBinding inverting_kernel(const Api& api) {
  KernelBinding binding;
  binding.cuda = [&api](const Launch& l) {
    check(api, api.launch_kernel(empty_kernel(), dim3(1), dim3(1), nullptr, 0, static_cast<cudaStream_t>(l.stream)),
          "cudaLaunchKernel", "a kernel of the test");
    for (std::uint64_t i = 0; i < l.lengths[0].count; ++i) l.operands[1][i] = ~l.operands[0][i];
  };
  return binding;
}

struct FaultMemory : TransferMemory {
  FaultMemory(Device& device, const Api& api, const Schedule& schedule, bool inverted)
      : TransferMemory(device, inverting_kernel(api), schedule, inverted) {}
};

}  // namespace shiplap::testing
