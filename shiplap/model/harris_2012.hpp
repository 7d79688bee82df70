// The metrics of Harris: "How to Implement Performance Metrics in CUDA C/C++" (NVIDIA, 2012), with 64-bit counts.
#pragma once

#include <cstdint>

#include "shiplap/core/units.hpp"

namespace shiplap::harris_2012 {

/// Peak bandwidth of a memory: clock in Hz × bus width in bits / 8 × transfers per pin in a cycle of *that* clock. The
/// article always multiplies by 2. The right factor depends on which clock is given:
///
///   clock                                                         factor
///   data rate of a pin ("14 Gbps")                                1
///   what the CUDA driver reports (also the article's 1,546 MHz)   2
///   command clock of DDR, GDDR3, HBM                              2
///   command clock of GDDR5                                        4
///   command clock of GDDR5X, GDDR6                                8
///   command clock of GDDR6X                                       16
Bandwidth theoretical_bandwidth(double clock_hz, std::uint32_t bus_bits, double transfers_per_clock);

/// (R_B + W_B) / t: the bytes that a kernel reads and writes, divided by its time.
Bandwidth effective_bandwidth(Bytes read, Bytes written, Seconds);

/// Floating-point operations per second, in units of 1e9. A multiply-add is two operations.
double gigaflops(std::uint64_t operations, Seconds);

}  // namespace shiplap::harris_2012
