// Constants of the simulator that no profile holds, each with its source.
#pragma once

#include <cstdint>

namespace shiplap::sim {

/// Smallest number of streams with a waiting kernel that makes copies slower. Measured on one H200
/// (docs/explanation/simulator.md, "Streams and handovers"): one such stream costs nothing, two or more do.
inline constexpr std::uint32_t streams_that_slow_copies = 2;

/// Factor by which a zero-copy kernel and copies of the same direction slow each other down: each gets half of the
/// link. This is an assumption, not a measurement. It is used for kernels that were not measured themselves
/// (docs/explanation/simulator.md, "Zero-copy").
inline constexpr double slowdown_in_same_direction = 2;

/// Number of kernels with many launches that fit on a simulated GPU at the same time. Each occupies almost no space.
/// The value must exceed the number of kernels that a GPU runs at once, at most 128 (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability", resident grids).
inline constexpr std::uint64_t kernels_at_once = 4096;

/// Fraction of a block that is added to the free space before it is rounded down to whole blocks. Rounding errors can
/// make the free space slightly smaller than a whole number of blocks. The value must exceed the rounding error of a
/// sum and be smaller than 1.
inline constexpr double rounding_of_blocks = 1e-6;

/// Largest number of waves of a kernel that are simulated one by one. A kernel with more waves gets fewer and larger
/// blocks, with the same time, so that the time for a simulation does not grow with the sizes of kernels. What a kernel
/// leaves to the next one in its last wave is then at most this part of its time.
inline constexpr std::uint64_t most_waves = 1024;
/// Larger numbers of blocks count as this one. They stay exact as floating-point numbers, and sums of two do not
/// overflow.
inline constexpr std::uint64_t most_blocks = std::uint64_t{1} << 50;

}  // namespace shiplap::sim
