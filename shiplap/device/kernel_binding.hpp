// The functions of a kernel, and the arguments of their calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// Arguments of one call of a kernel function, which launches the kernel once.
struct Launch {
  std::uint64_t first_item = 0;          ///< global index of the first item
  std::uint64_t items = 0;               ///< number of items
  std::span<std::byte* const> operands;  ///< start of each operand's region, in the order of the op's operands
  std::span<const Bytes> lengths;        ///< length of each operand's region
  std::span<const Bytes> origins{};      ///< offset of each operand's region in the array that it belongs to
  std::uint64_t blocks = 0;              ///< number of thread blocks that the schedule asks for
  void* stream = nullptr;                ///< the cudaStream_t to enqueue on; null for a host kernel
};

/// Enqueues (CUDA) or performs (host) one launch.
using KernelFunction = std::function<void(const Launch&)>;

/// Returns the time that a launch takes on a simulated GPU. It is called when the operands have arrived and before the
/// launch is performed.
using KernelDuration = std::function<Seconds(const Launch&)>;

/// The functions of one kernel.
struct KernelBinding {
  KernelFunction host;  ///< host version, for the virtual device and for verification
  KernelFunction cuda;  ///< CUDA version, for the CUDA device; empty in a build without CUDA
  /// Duration of a launch on the virtual device, for a kernel whose time depends on its data. When empty, the schedule
  /// states the time (`Kernel::work`).
  KernelDuration duration{};
};

}  // namespace shiplap
