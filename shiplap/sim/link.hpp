// The link between the host and one GPU: copies and zero-copy kernels that move bytes over it at once share it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "shiplap/sim/constants.hpp"
#include "shiplap/sim/resource.hpp"

namespace shiplap::sim {

class CopyEngine;
class ZeroCopyKernels;

/// The link has no events of its own: those that move bytes over it foresee their ends at the rates of the moment. Who
/// changes what a rate depends on settles the link before, because what has moved until then moved at the old rates,
/// and again afterwards.
class Link {
 public:
  explicit Link(std::size_t streams) : waiting_kernels_(streams, 0) {}
  void connect(const std::array<CopyEngine*, 2>& engines, ZeroCopyKernels& kernels) {
    engines_ = engines;
    zero_copy_ = &kernels;
  }

  /// Accounts for what has moved, and foresees the ends at the present rates.
  void settle(double now);

  /// Enters a kernel that was submitted and cannot start yet, or one that waits no more.
  void set_kernel_waits(StreamIndex, bool waits, double now);
  /// Whether copies are slower because at least `streams_that_slow_copies` streams hold a waiting kernel.
  bool slows_copies() const { return waiting_streams_ >= streams_that_slow_copies; }

 private:
  std::array<CopyEngine*, 2> engines_{};
  ZeroCopyKernels* zero_copy_ = nullptr;
  std::vector<std::uint32_t> waiting_kernels_;  // by stream
  std::uint32_t waiting_streams_ = 0;           // with at least one of them
};

}  // namespace shiplap::sim
