// Kernels that run concurrently with a mover: one that only computes, and one that is bound by the device memory. Both
// have many waves of blocks, as most kernels of programs do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shiplap/core/units.hpp"

namespace shiplap::bench {

/// Enqueues kernels that read the first half of the memory and write the second half, eight times.
void launch_memory_bound(std::byte* memory, Bytes size, void* stream);
/// Enqueues a kernel of multiply-adds in registers, `rounds` of them in each of four chains.
void launch_computing(std::byte* memory, std::uint32_t rounds, void* stream);

/// Waves of thread blocks of one kernel of a neighbour on this GPU. Throws Error when the driver does not say.
double waves_of_memory_bound(Bytes size);
double waves_of_computing();
/// Number of kernels that `launch_memory_bound` enqueues.
inline constexpr unsigned passes_of_memory_bound = 8;

}  // namespace shiplap::bench

/// `launch_memory_bound` for other languages.
extern "C" void neighbour_memory_bound(void* memory, std::uint64_t size, void* stream);
