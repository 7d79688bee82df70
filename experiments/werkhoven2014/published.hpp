// Published values of van Werkhoven et al. 2014, and assumptions for values that they do not publish.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "experiments/experiment.hpp"
#include "shiplap/model/van_werkhoven_2014.hpp"

namespace shiplap::experiments::werkhoven {

/// Parameters of one direction of the GTX Titan's link (PCIe 3.0), from Table I.
loggp::Parameters table1(bool to_device);

/// Table II: G of both directions in duplex. "mapped" means that a kernel writes the results to host memory.
struct LoadedLink {
  std::string_view link;  ///< "PCIe 2.0"
  std::string_view mode;  ///< "explicit-mapped"
  std::string_view gpu;   ///< "Tesla K20"
  van_werkhoven_2014::UnderLoad per_byte;
};
std::span<const LoadedLink> table2();
inline constexpr std::size_t pcie2_explicit = 0;  ///< index into `table2`
inline constexpr std::size_t pcie2_mapped = 1;    ///< index into `table2`
inline constexpr std::size_t pcie3_mapped = 2;    ///< index into `table2`

/// Largest errors that the paper reports, as fractions.
inline constexpr double worst_to_device = 0.0118;
inline constexpr double worst_to_host_too_short = 0.0247;
inline constexpr double worst_to_host_too_long = 0.0065;
inline constexpr double worst_explicit = 0.0973;
inline constexpr double worst_implicit = 0.0385;
inline constexpr double worst_streams = 0.0646;
inline constexpr double worst_hybrid = 0.1075;

/// Time to create a stream as Gómez-Luna et al. estimate it, quoted in §II, and the number of kernels that then use the
/// stream: "thousands".
inline constexpr Seconds published_creation = milliseconds(0.03);
inline constexpr double published_uses = 1000;

/// Number of levels of the ocean's grid, which have a stream each.
inline constexpr std::uint32_t streams_used = 42;

/// The two kernels of §VII on 1024 x 1024 x 42 doubles; state with one and with three outputs, because the paper does
/// not say which it timed.
struct OceanKernel {
  std::string_view name;      ///< "state, 1 output"
  std::string_view workload;  ///< "pop-state:nx=1024,ny=1024,nz=42,outputs=1"
  Bytes in;
  Bytes out;
  Bytes accessed_in;  ///< bytes that cross the link when the paper's kernel reads host memory (eq 6 counts every
                      ///< access)
  /// Assumed kernel times on a GTX Titan, because the paper gives none: limited by memory at about 230 GB/s, or by
  /// double precision at its default rate, 1/24 of single.
  std::array<Seconds, 2> assumed;
};
std::span<const OceanKernel> ocean_kernels();
inline constexpr std::size_t state_one = 0;    ///< index into `ocean_kernels`
inline constexpr std::size_t state_three = 1;  ///< index into `ocean_kernels`
inline constexpr std::size_t buoydiff = 2;     ///< index into `ocean_kernels`

/// The four implementations of §VII.
inline constexpr std::array<std::string_view, 4> implementations{"explicit", "implicit", "streams", "hybrid"};
inline constexpr std::size_t explicit_copy = 0;  ///< index into `implementations`
inline constexpr std::size_t implicit = 1;       ///< index into `implementations`
inline constexpr std::size_t streams = 2;        ///< index into `implementations`
inline constexpr std::size_t hybrid = 3;         ///< index into `implementations`

/// The GPUs of Figs 8, 9 and 10, one for each category, and the fastest implementation on each.
struct Machine {
  std::string_view figure;  ///< "Fig. 8"
  std::string_view id;      ///< id of the figure in claims about buoydiff: "fig8"
  std::string_view gpu;     ///< "GTX 680"
  van_werkhoven_2014::Category category;
  std::size_t fastest_buoydiff;  ///< index into `implementations`; for state it is `implicit` on all GPUs
};
std::span<const Machine> machines();

/// Assumed G of PCIe 2.0 in one direction alone, which is not published. The axis of Fig. 10 ends at 350 ms, so its
/// tallest bar, buoydiff as Implicit, is between 300 and 350 ms, which implies 0.142 to 0.166 ns per byte.
inline constexpr PerByte assumed_pcie2{0.16e-9};

/// The inputs of the equations for a kernel on one of these machines, with these link parameters.
van_werkhoven_2014::Work work_of(const OceanKernel&, const loggp::Parameters& h2d, const loggp::Parameters& d2h,
                                 Seconds kernel);

}  // namespace shiplap::experiments::werkhoven
