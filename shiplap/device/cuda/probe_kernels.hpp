// The kernels that the measurements launch: nothing, a fixed time, memory traffic, arithmetic.
#pragma once

#include <cstdint>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/device.hpp"

namespace shiplap {

/// As Device::probe_kernel says, on the current GPU `device`. Throws Error for a grid or an amount that cannot be.
ProbeKernel make_probe_kernel(const Api&, int device, ProbeKernel::Kind, std::uint64_t blocks, double amount);

/// `spin_kernel` takes one `long long`: the clock cycles for which each warp is busy.
const void* empty_kernel();
const void* spin_kernel();
const void* stream_kernel();
const void* multiply_add_kernel();
/// Memory, its length and the bytes from one touched byte to the next.
const void* touch_kernel();
/// Memory, its length in words of 8 bytes (a power of two) and the number of reads.
const void* chase_kernel();
/// From, to and a count of units, for units of 4, 8 and 16 bytes.
const void* map_kernel(unsigned unit);

/// About 10 µs: long beside the 1–2 µs by which blocks start apart, short enough for many waves.
constexpr long long spin_cycles = 20'000;

constexpr unsigned empty_probe_threads = 256;
constexpr unsigned spin_probe_threads = 1024;
constexpr unsigned stream_probe_threads = 512;
constexpr unsigned arithmetic_probe_threads = 256;
constexpr unsigned touch_probe_threads = 256;
/// Chains of multiply-adds in each thread, independent, so that one hides the latency of the others.
constexpr int probe_chains = 8;

}  // namespace shiplap
