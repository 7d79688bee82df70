// A device that can be measured. Besides running schedules it has kernels of known work, a test pattern, and queries
// for page locations and GPU clocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/device/device.hpp"

namespace shiplap {

struct GpuLoad;

/// A kernel of known work, which every measurable device provides.
struct ProbeKernel {
  /// Work of the kernel. Some kinds need an `amount`.
  enum class Kind : std::uint8_t {
    empty,         ///< an empty kernel
    spin,          ///< keeps every block busy for a fixed time, about 10 µs
    stream,        ///< reads `amount` / 2 bytes of device memory and writes the same number
    multiply_add,  ///< does `amount` fp32 operations in registers
    map,           ///< copies its first operand to its second, with `amount` (4, 8 or 16) bytes per access
    touch,         ///< reads and writes one byte in every `amount` bytes of its operand, one page per warp at a time
    chase,         ///< one thread makes `amount` dependent loads of 8 bytes in its operand (a pointer chase)
    strided,       ///< as `map` with 16 bytes per access; neighbouring threads access neighbouring pages of 4 KiB
    random,  ///< as `map` with 16 bytes per access; the words, a power of two of them, are accessed in random order
  };
  KernelBinding binding;              ///< the kernel's function on this device
  Seconds work{0};                    ///< simulated time of the kernel; 0 on a real device
  std::uint64_t blocks = 1;           ///< blocks in the grid
  std::uint64_t resident_blocks = 1;  ///< blocks that the GPU holds at once
};

/// Threads in a block of ProbeKernel::Kind::spin: the most that CUDA allows. Resident blocks × this is the number of
/// resident threads of the GPU.
inline constexpr unsigned spin_probe_threads = 1024;
/// Threads in a block of ProbeKernel::Kind::map: 8 warps, a common size in the CUDA samples.
inline constexpr unsigned map_probe_threads = 256;

/// A device that can be measured. Each query has a default that means "unknown".
class MeasurableDevice : public Device {
 public:
  /// A probe kernel. `blocks` is the grid of `empty`, `spin`, `map` and `touch`; the other kinds choose their own grid,
  /// and `stream` and `multiply_add` do the same work in the grid of a schedule that states another one.
  /// The meaning of `amount` is given with each kind. Throws Error for an impossible grid or amount, Unsupported where
  /// a simulated device does not know how long the kernel takes.
  virtual ProbeKernel probe_kernel(ProbeKernel::Kind, std::uint64_t blocks, double amount) = 0;
  /// Writes the test pattern of `seed` (pattern.hpp). A GPU writes to mapped memory itself, so that the CPU caches hold
  /// none of it.
  virtual void fill(const Memory&, std::uint64_t seed) = 0;
  /// Number of bytes i of memory[offset, offset + length) that differ from the pattern of `seed` at pattern_offset + i.
  /// Both offsets must be multiples of 8. A GPU reads mapped memory itself, as in `fill`.
  virtual std::uint64_t mismatches(const Memory&, Bytes offset, Bytes length, std::uint64_t seed,
                                   Bytes pattern_offset) = 0;
  /// NUMA nodes on which the pages of host memory are; nullopt where they are unknown.
  virtual std::optional<std::vector<unsigned>> numa_nodes(const Memory&) const;
  /// Fraction of the pages of managed memory that is on the host, from 0 to 1; nullopt where it is unknown.
  virtual std::optional<double> fraction_on_host(const Memory&) const;
  /// Conditions that change while the device works: clocks, the reasons why they are low, the speed of the link. Empty
  /// where none is known.
  virtual Conditions state() const;
  /// Reasons why the clocks are low now. The query takes less time than `state`. Empty when there is no reason or none
  /// is known.
  virtual std::string clocks_held_by() const;
  /// How much others use the GPU and its link now; unknown where it cannot be read.
  virtual GpuLoad load() const;
  /// Keeps the calling thread, and threads that it starts meanwhile, on those of its cores that are on the NUMA node of
  /// `place`, until the result is destroyed by the same thread; `Place::host()` is the node nearest to the GPU. The
  /// thread stays as it is where it may use no core of the node, the system refuses, or the device, like a simulated
  /// one, keeps no threads anywhere; the result can then be null. Throws Error for a node that the process cannot use.
  virtual std::shared_ptr<void> on_cores_of(Place) const;
};

}  // namespace shiplap
