// Upper limits of the rate of a kernel with its transfers, in flop/s: van Werkhoven et al. 2014, §III. The paper has
// one PCIe bandwidth and one number of bytes, as if both directions shared the link. Here each direction has its own.
#pragma once

#include "shiplap/core/units.hpp"

namespace shiplap::roofline {

/// The peak rates of a GPU and its link.
struct Machine {
  double flop_rate = 0;  ///< in flop/s
  Bandwidth memory;      ///< device memory
  Bandwidth h2d;         ///< link to the GPU
  Bandwidth d2h;         ///< link to the host
};

/// The work of a kernel and its transfers.
struct Traffic {
  double flops = 0;  ///< number of floating-point operations, at least 1
  Bytes reads;       ///< bytes that reach device memory after the caches
  Bytes writes;      ///< bytes that reach device memory after the caches
  Bytes in;          ///< bytes copied to the GPU
  Bytes out;         ///< bytes copied to the host
};

/// R_M = min(peak, memory bandwidth × operational intensity), without transfers (§II).
double plain(const Machine&, const Traffic&);
/// The rate with perfect overlap of the kernel at R_M and the copies of each direction at its bandwidth.
double full_overlap(const Machine&, const Traffic&);
/// The rate without overlap: copies in, then the kernel at R_M, then copies out.
double zero_overlap(const Machine&, const Traffic&);
/// The rate with zero-copy: all reads and writes cross the link, each in their direction. On a GPU that does not cache
/// host memory, `reads` and `writes` must include all accesses of the kernel.
double zero_copy(const Machine&, const Traffic&);

/// The forms as printed in §III, with one bandwidth for the link and the sum of the bytes of both directions.
namespace as_printed {

/// min(peak, memory bandwidth × OI, PCIe bandwidth × DI). OI = flops / bytes accessed in device memory;
/// DI = flops / (bytes in + bytes out).
double full_overlap(const Machine&, const Traffic&, Bandwidth link);
/// flops / (bytes / PCIe bandwidth + flops / R_M).
double zero_overlap(const Machine&, const Traffic&, Bandwidth link);
/// min(peak, PCIe bandwidth × OI).
double zero_copy(const Machine&, const Traffic&, Bandwidth link);

}  // namespace as_printed

}  // namespace shiplap::roofline
