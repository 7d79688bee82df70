// What the ids in a schedule mean when it is executed: memory for buffers, functions for kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// What a kernel function is called with for one launch.
struct Launch {
  std::uint64_t first_item = 0;          ///< global index of the first item
  std::uint64_t items = 0;               ///< number of items
  std::span<std::byte* const> operands;  ///< start of each operand's region, in the order of the op's operands
  std::span<const Bytes> lengths;        ///< length of each operand's region
  std::span<const Bytes> origins{};      ///< where each operand's region begins in the array that it is a piece of
  std::uint64_t blocks = 0;              ///< grid that the schedule asks for
  void* stream = nullptr;                ///< the cudaStream_t to enqueue on; null for a host kernel
};

/// Enqueues (CUDA) or performs (host) one launch.
using KernelFunction = std::function<void(const Launch&)>;

/// The time of a launch on a simulated GPU. Called when the operands are there, before the launch is performed.
using KernelDuration = std::function<Seconds(const Launch&)>;

/// One kernel, as functions that enqueue or perform a launch of it.
struct KernelBinding {
  KernelFunction host;  ///< for the virtual device and for verification
  KernelFunction cuda;  ///< for the CUDA device; empty in a build without CUDA
  /// For the virtual device and a kernel whose time depends on its data. Empty: the schedule says the time
  /// (`Kernel::work`).
  KernelDuration duration{};
};

/// `buffers[i]` is the memory of buffer i, at least as long as the schedule says; `kernels[i]` the functions of kernel
/// i.
struct Bindings {
  std::vector<std::byte*> buffers;     ///< by BufferId; memory of the caller's, which outlives the execution
  std::vector<KernelBinding> kernels;  ///< by KernelId
};

}  // namespace shiplap
