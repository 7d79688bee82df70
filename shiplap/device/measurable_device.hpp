// What measuring needs of a device besides running schedules: known kernels, known bytes, where pages are, and what the
// GPU's clocks do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/device/device.hpp"

namespace shiplap {

/// A kernel whose work is known. Every measurable device has these.
struct ProbeKernel {
  /// What the kernel does. Some kinds need an `amount` of work.
  enum class Kind : std::uint8_t {
    empty,         ///< does nothing
    spin,          ///< keeps every block busy for a fixed time, about 10 µs
    stream,        ///< reads `amount` / 2 bytes of device memory and writes as many
    multiply_add,  ///< does `amount` fp32 operations in registers
    map,           ///< copies its first operand to its second; a thread copies `amount` (4, 8 or 16) bytes at a time
    touch,         ///< reads and writes one byte in every `amount` bytes of its operand; a warp has a page at a time
    chase,         ///< one thread does `amount` reads of 8 bytes in its operand; each read tells where the next one is
  };
  KernelBinding binding;              ///< the kernel's function on this device
  Seconds work{0};                    ///< what the simulator should charge; 0 on a real device, which takes its time
  std::uint64_t blocks = 1;           ///< blocks in the grid
  std::uint64_t resident_blocks = 1;  ///< blocks that the GPU holds at once
};

/// Threads in a block of ProbeKernel::Kind::spin: the most that CUDA allows, so that blocks at once × threads is the
/// number of threads that the GPU holds.
inline constexpr unsigned spin_probe_threads = 1024;
/// Threads in a block of ProbeKernel::Kind::map: 8 warps, a common size in the CUDA samples.
inline constexpr unsigned map_probe_threads = 256;

/// A device that can be measured. Measurements run schedules of known kernels on known bytes, so this is a Device.
/// What is only told, not done, has an answer for "unknown".
class MeasurableDevice : public Device {
 public:
  /// A probe kernel. `blocks` sets the grid of `empty`, `spin`, `map` and `touch`; the other kinds choose theirs.
  /// `amount` is given with the kinds. Throws Error for a grid or an amount that cannot be, Unsupported where the
  /// device does not know how long the kernel takes.
  virtual ProbeKernel probe_kernel(ProbeKernel::Kind, std::uint64_t blocks, double amount) = 0;
  /// Writes the test pattern of `seed` (pattern.hpp). A GPU writes that of mapped memory too, so that none of it lies
  /// in the caches of the CPU.
  virtual void fill(const Memory&, std::uint64_t seed) = 0;
  /// Number of bytes of memory[offset, offset + length) that differ from the pattern of `seed` at pattern_offset + i.
  /// Both offsets are multiples of 8; the length is any. A GPU reads mapped memory itself, as in `fill`.
  virtual std::uint64_t mismatches(const Memory&, Bytes offset, Bytes length, std::uint64_t seed,
                                   Bytes pattern_offset) = 0;
  /// The NUMA nodes on which the pages of host memory really are; nullopt where that cannot be told.
  virtual std::optional<std::vector<unsigned>> numa_nodes(const Memory&) const { return std::nullopt; }
  /// The share of the pages of managed memory that is on the host, from 0 to 1; nullopt where that cannot be told.
  virtual std::optional<double> fraction_on_host(const Memory&) const { return std::nullopt; }
  /// What changes while the device works, as it is now: clocks and what holds them down, the speed of the link. Empty
  /// where there is nothing to tell.
  virtual Conditions state() const { return {}; }
  /// What holds the clocks down now. `state` tells that too, and takes longer. Empty when nothing does or nothing is
  /// known.
  virtual std::string clocks_held_by() const { return {}; }
};

}  // namespace shiplap
