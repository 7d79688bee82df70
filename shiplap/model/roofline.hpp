// Upper bounds on the rate of a kernel with its transfers, in flop/s: van Werkhoven et al. 2014, §III. The paper has
// one PCIe bandwidth and one number of bytes, as if both directions shared the link; here each direction has its own.
#pragma once

#include "shiplap/core/units.hpp"

namespace shiplap::roofline {

/// Peak flop/s, and the bandwidths of device memory and of the link in each direction.
struct Machine {
  double flop_rate = 0;
  Bandwidth memory;
  Bandwidth h2d;
  Bandwidth d2h;
};

/// Flops; bytes that the kernel reads from and writes to device memory (behind the caches); bytes copied between host
/// and device. At least one flop.
struct Traffic {
  double flops = 0;
  Bytes reads;
  Bytes writes;
  Bytes in;
  Bytes out;
};

/// R_M = min(peak, memory bandwidth × operational intensity), no transfers (§II).
double plain(const Machine&, const Traffic&);
/// Perfect overlap of everything: R_M, and each direction of the link at its own bandwidth.
double full_overlap(const Machine&, const Traffic&);
/// Copies in, then the kernel at R_M, then copies out.
double zero_overlap(const Machine&, const Traffic&);
/// Zero-copy: every access to device memory becomes one over the link, reads and writes each in their direction. Where
/// the GPU does not cache host memory, `reads` and `writes` are all accesses of the kernel.
double zero_copy(const Machine&, const Traffic&);

/// As in §III: one bandwidth for the link, and the bytes of both directions added.
namespace as_printed {

/// min(peak, memory bandwidth × OI, PCIe bandwidth × DI), DI = flops / (bytes in + bytes out).
double full_overlap(const Machine&, const Traffic&, Bandwidth link);
/// flops / (bytes / PCIe bandwidth + flops / R_M).
double zero_overlap(const Machine&, const Traffic&, Bandwidth link);
/// min(peak, PCIe bandwidth × OI).
double zero_copy(const Machine&, const Traffic&, Bandwidth link);

}  // namespace as_printed

}  // namespace shiplap::roofline
