// A device that can be measured. Besides running schedules it has kernels of known work, a test pattern, and queries
// for page locations and GPU clocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shiplap/device/device.hpp"

namespace shiplap {

enum class ProbeKind : std::uint8_t;
struct GpuLoad;
struct ProbeKernel;

/// A device that can be measured. Each query has a default that means "unknown".
class MeasurableDevice : public Device {
 public:
  /// A probe kernel. `blocks` is the grid of `empty`, `spin`, `map` and `touch`; the other kinds choose their own grid,
  /// and `stream` and `multiply_add` do the same work in the grid of a schedule that states another one.
  /// The meaning of `amount` is given with each kind. Throws Error for an impossible grid or amount, Unsupported where
  /// a simulated device does not know how long the kernel takes.
  virtual ProbeKernel probe_kernel(ProbeKind, std::uint64_t blocks, double amount) = 0;
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
  /// How much others use a GPU of the device and its link now; unknown where it cannot be read.
  virtual GpuLoad load(std::uint16_t gpu = 0) const;
  /// Keeps the calling thread, and threads that it starts meanwhile, on those of its cores that are on the NUMA node of
  /// `place`, until the result is destroyed by the same thread; `Place::host()` is the node nearest to the GPU. The
  /// thread stays as it is where it may use no core of the node, the system refuses, or the device, like a simulated
  /// one, keeps no threads anywhere; the result can then be null. Throws Error for a node that the process cannot use.
  virtual std::shared_ptr<void> on_cores_of(Place) const;
  /// Makes the pages that host memory lacks, by several threads. Its content stays.
  virtual void make_pages(std::span<std::byte>) const;
};

}  // namespace shiplap
