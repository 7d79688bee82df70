// The link between the host and one GPU, which copies and zero-copy kernels share.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "shiplap/sim/constants.hpp"
#include "shiplap/sim/resource.hpp"

namespace shiplap::sim {

class CopyEngine;
class SharedPaths;
class ZeroCopyKernels;

/// The link has no events of its own. Copy engines and zero-copy kernels compute the ends of their transfers from the
/// current rates. Code that changes anything that a rate depends on calls `update_progress` before the change, so that
/// bytes moved so far count at the old rates, and again after the change.
class Link {
 public:
  explicit Link(std::size_t streams) : waiting_kernels_(streams, 0) {}
  void connect(const std::array<CopyEngine*, 2>& engines, ZeroCopyKernels& kernels) {
    engines_ = engines;
    zero_copy_ = &kernels;
  }
  /// The link shares `paths` with those of other GPUs.
  void connect(SharedPaths& paths) { shared_ = &paths; }

  /// Is called when the kernels concurrent with the transfers have changed.
  void kernels_changed(double now);

  /// Updates the progress of all transfers over the link, and their ends by the current rates.
  void update_progress(double now);

  /// Tells what the link shares with others that a transfer has begun or ended, or has another rate.
  void tell_others(double now);

  /// Counts a kernel of the stream as waiting (submitted and not ready), or as no longer waiting.
  void set_kernel_waits(StreamIndex, bool waits, double now);
  /// Whether copies are slower because at least `streams_that_slow_copies` streams hold a waiting kernel.
  bool slows_copies() const { return waiting_streams_ >= streams_that_slow_copies; }

 private:
  std::array<CopyEngine*, 2> engines_{};
  ZeroCopyKernels* zero_copy_ = nullptr;
  SharedPaths* shared_ = nullptr;               // null: it shares nothing
  std::vector<std::uint32_t> waiting_kernels_;  // number of waiting kernels by stream
  std::uint32_t waiting_streams_ = 0;           // number of streams with a waiting kernel
};

}  // namespace shiplap::sim
