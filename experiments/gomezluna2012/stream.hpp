// The chunks of Table 3 as they come: one input without a pause, each chunk waited for, under a policy.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "experiments/gomezluna2012/runner.hpp"

namespace shiplap::experiments::gomez_luna {

/// Frames a second of the whole input, half of whose chunks have other data than the other half.
struct StreamRates {
  double unstreamed = 0;
  double protocol = 0;        ///< §4.4
  double adaptive = 0;        ///< ours, on the same choices
  std::uint64_t probes = 0;   ///< chunks that the protocol ran without streams
  std::uint64_t changes = 0;  ///< of ours
};

/// On a GPU; every result verified. Medians of runs in turn. `first` and `second` are of one shape.
StreamRates stream_rates(const Bench&, const Workload& first, const Workload& second, const KernelCost&, Layout,
                         std::span<const std::uint32_t> streams, Seconds per_stream, std::uint64_t chunks);

}  // namespace shiplap::experiments::gomez_luna
