// The fractions of the GPU's limit (memory bandwidth or rate of operations) that the built-in kernels reach on resident
// data (Job::efficiency). All are measured on one H200 (research/workloads.md, from results/h200/workloads).
// For other GPUs they are an estimate.
#pragma once

namespace shiplap::efficiency {

inline constexpr double arccos = 0.86;        ///< memory bandwidth, one call
inline constexpr double convolution = 0.68;   ///< fp32
inline constexpr double diffusion = 0.64;     ///< memory bandwidth, one step
inline constexpr double grayscale = 0.9;      ///< memory bandwidth, between one and two outputs
inline constexpr double histogram = 0.85;     ///< memory bandwidth
inline constexpr double matmul = 0.62;        ///< fp32
inline constexpr double pop_buoydiff = 0.42;  ///< memory bandwidth
inline constexpr double pop_state = 0.73;     ///< memory bandwidth, between one and three outputs
inline constexpr double saxpy = 0.9;          ///< memory bandwidth
inline constexpr double scalar_add = 0.88;    ///< memory bandwidth, one iteration
inline constexpr double spmv = 0.24;          ///< memory bandwidth

}  // namespace shiplap::efficiency
