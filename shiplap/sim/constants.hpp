// The constants of the simulator: what no profile says, each with its source.
#pragma once

#include <cstdint>

namespace shiplap::sim {

/// Streams that must hold a waiting kernel before copies become slower. Measured on one GPU, an H200
/// (docs/measuring.md, "What streams do to each other"): one stream costs nothing, two or more do.
inline constexpr std::uint32_t streams_that_slow_copies = 2;

/// Factor by which a zero-copy kernel and copies of the same direction slow each other down: each has half of the link.
/// An assumption without a measurement, for kernels that were not measured themselves (docs/measuring.md, "Zero-copy").
inline constexpr double slowdown_in_same_direction = 2;

/// Number of kernels with many launches that fit on a GPU at once in the simulator: each takes almost no room. The
/// value must exceed the number of kernels that a GPU runs at once, at most 128 (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability", resident grids).
inline constexpr std::uint64_t kernels_at_once = 4096;

/// Fraction of a block that is added to the free room before it is rounded down to whole blocks: room that was freed in
/// parts can add up to slightly less than one block because of rounding. The value needs no measurement. It must exceed
/// the rounding error of a sum and be smaller than 1.
inline constexpr double rounding_of_blocks = 1e-6;

}  // namespace shiplap::sim
