// The chunks of Table 3 as a continuous input under a policy. The host waits for each chunk.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "experiments/gomezluna2012/runner.hpp"

namespace shiplap::experiments::gomez_luna {

/// Frames per second of the whole input, whose two halves have different data.
struct StreamRates {
  double unstreamed = 0;
  double protocol = 0;        ///< protocol of §4.4
  double adaptive = 0;        ///< Adaptive, on the same choices
  std::uint64_t probes = 0;   ///< number of chunks that the protocol ran without streams
  std::uint64_t changes = 0;  ///< number of changes by Adaptive
};

/// Measures on a GPU and verifies every result. The rates are medians of alternating runs. `first` and `second` must
/// have the same shape.
StreamRates stream_rates(const Bench&, const Workload& first, const Workload& second, const KernelCost&, Layout,
                         std::span<const std::uint32_t> streams, Seconds per_stream, std::uint64_t chunks);

}  // namespace shiplap::experiments::gomez_luna
