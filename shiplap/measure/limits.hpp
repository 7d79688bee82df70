// What the hardware allows at most, from the conditions that were recorded with the measurements.
#pragma once

#include <optional>
#include <string>

#include "shiplap/measure/figures.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Theoretical bandwidth of device memory in bytes per second: clock x width x 2 transfers a clock (Harris 2012). The
/// clock that CUDA reports counts two transfers for HBM and GDDR alike, whatever the memory does inside. 0 when the
/// conditions lack one of them.
double device_memory_limit(const Conditions&);

/// fp32 flop/s of fused multiply-adds; 0 when the conditions lack the clock or the compute capability is unknown.
double arithmetic_limit(const Conditions&, unsigned sm_count);

/// What the figure's bytes could move at most, in bytes per second: over the link (both directions together where both
/// are counted, once for each GPU), or to and from device memory. nullopt for figures that are no bandwidth, that other
/// parts limit (host memory, links between GPUs), or when the conditions do not tell.
std::optional<double> limit_of(const Figure&, const Conditions&);

}  // namespace shiplap
