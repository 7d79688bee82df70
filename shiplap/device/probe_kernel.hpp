// Kernels of known work, which every measurable device provides.
#pragma once

#include <cstdint>

#include "shiplap/core/units.hpp"
#include "shiplap/device/kernel_binding.hpp"

namespace shiplap {

/// The work of a probe kernel. Some kinds need an `amount`.
enum class ProbeKind : std::uint8_t {
  empty,         ///< an empty kernel
  spin,          ///< keeps every block busy for a fixed time, about 10 µs
  stream,        ///< reads `amount` / 2 bytes of device memory and writes the same number
  multiply_add,  ///< does `amount` fp32 operations in registers
  map,           ///< copies its first operand to its second, with `amount` (4, 8 or 16) bytes per access
  touch,         ///< reads and writes one byte in every `amount` bytes of its operand, one page per warp at a time
  chase,         ///< one thread makes `amount` dependent loads of 8 bytes in its operand (a pointer chase)
  strided,       ///< as `map` with 16 bytes per access; neighbouring threads access neighbouring pages of 4 KiB
  random,        ///< as `map` with 16 bytes per access; the words, a power of two of them, are accessed in random order
};

/// A kernel of known work, which every measurable device provides.
struct ProbeKernel {
  KernelBinding binding;              ///< the kernel's function on this device
  Seconds work{0};                    ///< simulated time of the kernel; 0 on a real device
  std::uint64_t blocks = 1;           ///< blocks in the grid
  std::uint64_t resident_blocks = 1;  ///< blocks that the GPU holds at once
};

/// Threads in a block of ProbeKind::spin: the most that CUDA allows. Resident blocks × this is the number of
/// resident threads of the GPU.
inline constexpr unsigned spin_probe_threads = 1024;
/// Threads in a block of ProbeKind::map: 8 warps, a common size in the CUDA samples.
inline constexpr unsigned map_probe_threads = 256;

}  // namespace shiplap
