// The kernels that the measurements launch: nothing, a fixed time, memory traffic, arithmetic.
#pragma once

#include <cstdint>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/measurable_device.hpp"

namespace shiplap {

/// Makes what MeasurableDevice::probe_kernel promises, on the current GPU `device`. Throws Error for a grid or an
/// amount that cannot be.
ProbeKernel make_probe_kernel(const Api&, int device, ProbeKernel::Kind, std::uint64_t blocks, double amount);

const void* empty_kernel();
/// Takes one `long long`, the clock cycles for which each warp is busy.
const void* spin_kernel();
const void* stream_kernel();
const void* multiply_add_kernel();
/// Takes memory, its length and the bytes from one touched byte to the next.
const void* touch_kernel();
/// Takes memory, its length in words of 8 bytes (a power of two) and the number of reads.
const void* chase_kernel();
/// Takes source, destination and a number of units of 4, 8 or 16 bytes.
const void* map_kernel(unsigned unit);

/// About 10 µs at 2 GHz: long beside the 1 to 2 µs by which blocks start apart, short enough for many waves.
constexpr long long spin_cycles = 20'000;

// Threads in a block. 256 is a common size; 512 threads of the stream kernel fill an SM with four blocks.
constexpr unsigned empty_probe_threads = 256;
constexpr unsigned stream_probe_threads = 512;
constexpr unsigned arithmetic_probe_threads = 256;
constexpr unsigned touch_probe_threads = 256;
/// Independent chains of multiply-adds in each thread, so that one hides the latency of the others, which is 4
/// cycles since Volta (Jia et al. 2018, arXiv:1804.06826).
constexpr int probe_chains = 8;

}  // namespace shiplap
