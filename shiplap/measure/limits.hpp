// Theoretical limits of the hardware, computed from the conditions that were recorded with the measurements.
#pragma once

#include <optional>
#include <string>

#include "shiplap/measure/figures.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Theoretical bandwidth of device memory in bytes per second: clock x width x 2 transfers per clock (Harris 2012). The
/// clock that CUDA reports implies two transfers per clock for all kinds of memory. The result is 0 when the conditions
/// lack the clock or the width.
double device_memory_limit(const Conditions&);

/// Theoretical fp32 flop/s of fused multiply-adds; 0 when the conditions lack the clock or the compute capability is
/// unknown.
double arithmetic_limit(const Conditions&, unsigned sm_count);

/// Upper limit of a figure's rate in bytes per second: of the link (the sum of both directions for duplex figures,
/// times the number of GPUs) or of device memory. The result is nullopt for a figure that is no bandwidth or that
/// something else limits (host memory, links between GPUs), and when the conditions are missing.
std::optional<double> limit_of(const Figure&, const Conditions&);

}  // namespace shiplap
