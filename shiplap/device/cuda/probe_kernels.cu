#include "shiplap/device/cuda/probe_kernels.hpp"
#include "shiplap/device/probe_kernel.hpp"

namespace shiplap {
namespace {

__device__ std::uint64_t first_index() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::uint64_t stride() { return std::uint64_t{gridDim.x} * blockDim.x; }

__global__ void empty() {}

// The bound of two blocks per SM limits registers, so that only the number of threads limits the resident blocks.
__global__ void __launch_bounds__(spin_probe_threads, 2) spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void __launch_bounds__(stream_probe_threads) stream(const uint4* from, uint4* to, std::uint64_t count) {
  for (std::uint64_t i = first_index(); i < count; i += stride()) {
    const uint4 value = from[i];
    to[i] = make_uint4(value.x + 1, value.y + 1, value.z + 1, value.w + 1);
  }
}

template <class Unit>
__global__ void __launch_bounds__(map_probe_threads) map(const Unit* from, Unit* to, std::uint64_t count) {
  // Without unrolling a thread has one access in flight, as in most kernels.
#pragma unroll 1
  for (std::uint64_t i = first_index(); i < count; i += stride()) to[i] = from[i];
}

/// As `map`, but access number i is to word `Order::word(i, count)`.
template <class Order>
__global__ void __launch_bounds__(map_probe_threads) map_in(const uint4* from, uint4* to, std::uint64_t count) {
#pragma unroll 1
  for (std::uint64_t i = first_index(); i < count; i += stride()) {
    const std::uint64_t word = Order::word(i, count);
    to[word] = from[word];
  }
}

/// Column by column through a matrix whose rows are pages of 4 KiB. The words behind the last full page keep their
/// order.
struct Strided {
  static constexpr std::uint64_t words_of_page = 4096 / sizeof(uint4);
  __device__ static std::uint64_t word(std::uint64_t i, std::uint64_t count) {
    const std::uint64_t pages = count / words_of_page;
    return i < pages * words_of_page ? i % pages * words_of_page + i / pages : i;
  }
};

/// A permutation of a power of two of words: multiplications by odd numbers and shifts can be undone.
struct Random {
  __device__ static std::uint64_t word(std::uint64_t i, std::uint64_t count) {
    const std::uint64_t mask = count - 1;
    i = i * 0x9e3779b97f4a7c15ull & mask;
    i ^= i >> 11;
    i = i * 0xd1342543de82ef95ull & mask;
    i ^= i >> 7;
    return i;
  }
};

/// Each warp touches one page at a time, as in Comm|Scope's test of demand paging. The content of the pages does not
/// change.
__global__ void __launch_bounds__(touch_probe_threads)
    touch(unsigned char* memory, std::uint64_t length, std::uint64_t step) {
  const std::uint64_t warp = first_index() / warpSize;
  if (threadIdx.x % warpSize != 0) return;
  for (std::uint64_t at = warp * step; at < length; at += stride() / warpSize * step) {
    volatile unsigned char* byte = memory + at;
    *byte = *byte;
  }
}

__device__ unsigned long long chase_sink;

/// Visits every word once in the order of a linear congruential generator with full period. The next address depends on
/// the loaded value. That value never changes the order, but the compiler cannot know this, so it cannot remove the
/// load.
__global__ void chase(const unsigned long long* memory, std::uint64_t words, std::uint64_t reads) {
  std::uint64_t at = 0;
  unsigned long long seen = 0;
  for (std::uint64_t i = 0; i < reads; ++i) {
    seen = memory[at];
    at = (at * 6364136223846793005ull + 1442695040888963407ull + (seen == 0x9e3779b97f4a7c15ull ? 2 : 0)) & (words - 1);
  }
  if (seen == 0x9e3779b97f4a7c15ull) chase_sink = at;
}

__device__ float multiply_add_sink;

/// Each thread does `rounds` multiply-adds in each of its chains, and the first `extra` threads do one more.
__global__ void __launch_bounds__(arithmetic_probe_threads)
    multiply_add(std::uint64_t rounds, std::uint64_t extra, float factor, float summand) {
  float x[probe_chains];
#pragma unroll
  for (int k = 0; k < probe_chains; ++k) x[k] = static_cast<float>(threadIdx.x + k);
  const std::uint64_t mine = rounds + (first_index() < extra ? 1 : 0);
#pragma unroll 8
  for (std::uint64_t i = 0; i < mine; ++i) {
#pragma unroll
    for (int k = 0; k < probe_chains; ++k) x[k] = __fmaf_rn(x[k], factor, summand);
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < probe_chains; ++k) sum += x[k];
  // This is never true, but the compiler does not know the values, so it cannot remove the arithmetic.
  if (sum < 0) multiply_add_sink = sum;
}

}  // namespace

const void* empty_kernel() { return reinterpret_cast<const void*>(&empty); }
const void* spin_kernel() { return reinterpret_cast<const void*>(&spin); }
const void* stream_kernel() { return reinterpret_cast<const void*>(&stream); }
const void* map_kernel(unsigned unit) {
  if (unit == sizeof(unsigned)) return reinterpret_cast<const void*>(&map<unsigned>);
  if (unit == sizeof(uint2)) return reinterpret_cast<const void*>(&map<uint2>);
  return reinterpret_cast<const void*>(&map<uint4>);
}
const void* strided_kernel() { return reinterpret_cast<const void*>(&map_in<Strided>); }
const void* random_kernel() { return reinterpret_cast<const void*>(&map_in<Random>); }
const void* touch_kernel() { return reinterpret_cast<const void*>(&touch); }
const void* chase_kernel() { return reinterpret_cast<const void*>(&chase); }
const void* multiply_add_kernel() { return reinterpret_cast<const void*>(&multiply_add); }

}  // namespace shiplap
