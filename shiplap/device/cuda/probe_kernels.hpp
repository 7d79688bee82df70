// The kernels that measurements launch: empty, busy for a fixed time, memory traffic, arithmetic.
#pragma once

#include <cstdint>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/measurable_device.hpp"
#include "shiplap/device/probe_kernel.hpp"

namespace shiplap {

/// Implements MeasurableDevice::probe_kernel on the current GPU `device`. Throws Error for an impossible grid or
/// amount.
ProbeKernel make_probe_kernel(const Api&, int device, ProbeKind, std::uint64_t blocks, double amount);

const void* empty_kernel();
/// Parameter: the clock cycles for which each warp is busy (long long).
const void* spin_kernel();
const void* stream_kernel();
const void* multiply_add_kernel();
/// Parameters: the address of the memory, its length in bytes and the distance in bytes between touched bytes (both
/// std::uint64_t).
const void* touch_kernel();
/// Parameters: the address of the memory, its length in words of 8 bytes (a power of two) and the number of loads (both
/// std::uint64_t).
const void* chase_kernel();
/// Parameters: the addresses of source and destination, and the number of units (std::uint64_t). A unit is 4, 8 or 16
/// bytes.
const void* map_kernel(unsigned unit);
/// As `map_kernel(16)`, in another order.
const void* strided_kernel();
const void* random_kernel();

/// About 10 µs at 2 GHz. Thread blocks start 1 to 2 µs apart, which is short in comparison, and many waves still take
/// little time.
constexpr long long spin_cycles = 20'000;

// Threads in a block of each kernel. 256 is a common size; four blocks of 512 threads fill an SM in the stream kernel.
constexpr unsigned empty_probe_threads = 256;
constexpr unsigned stream_probe_threads = 512;
constexpr unsigned arithmetic_probe_threads = 256;
constexpr unsigned touch_probe_threads = 256;
/// Independent chains of multiply-adds in each thread, so that one hides the latency of the others, which is 4
/// cycles since Volta (Jia et al. 2018, arXiv:1804.06826).
constexpr int probe_chains = 8;

}  // namespace shiplap
