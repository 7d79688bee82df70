// The kernels of the built-in workloads. Each does exactly what its host function does, whatever the grid.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/cuda_kernels.hpp"

namespace shiplap {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned stated_threads = 1024;

__device__ std::uint64_t first_index() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::uint64_t stride() { return std::uint64_t{gridDim.x} * blockDim.x; }

// --- saxpy ---

/// `vectors` groups of four elements and then single elements up to `count`.
__global__ void __launch_bounds__(threads)
    saxpy(float a, const float* x, float* y, std::uint64_t vectors, std::uint64_t count) {
  const auto* x4 = reinterpret_cast<const float4*>(x);
  auto* y4 = reinterpret_cast<float4*>(y);
  for (std::uint64_t i = first_index(); i < vectors; i += stride()) {
    const float4 p = x4[i];
    const float4 q = y4[i];
    y4[i] = make_float4(a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w);
  }
  for (std::uint64_t i = 4 * vectors + first_index(); i < count; i += stride()) y[i] = a * x[i] + y[i];
}

// --- scalar-add ---

struct Addition {
  std::uint32_t scalar;
  std::uint32_t iterations;
  /// 0, which the compiler does not know: x + s + s becomes x + 2·s, even in the assembler and behind an empty asm, but
  /// (((x + s) ^ zero) + s) ^ zero stays as many additions as it is written with.
  std::uint32_t zero = 0;
};

/// Adds the scalar `iterations` times, in so many additions.
__device__ std::uint32_t add_repeatedly(std::uint32_t x, Addition addition) {
#pragma unroll 4
  for (std::uint32_t i = 0; i < addition.iterations; ++i) x = (x + addition.scalar) ^ addition.zero;
  return x;
}

/// One output for each input.
__global__ void __launch_bounds__(threads)
    scalar_add_one_to_one(const std::uint32_t* in, std::uint32_t* out, std::uint64_t vectors, std::uint64_t count,
                          Addition addition) {
  const auto* in4 = reinterpret_cast<const uint4*>(in);
  auto* out4 = reinterpret_cast<uint4*>(out);
  for (std::uint64_t i = first_index(); i < vectors; i += stride()) {
    const uint4 v = in4[i];
    out4[i] = make_uint4(add_repeatedly(v.x, addition), add_repeatedly(v.y, addition), add_repeatedly(v.z, addition),
                         add_repeatedly(v.w, addition));
  }
  for (std::uint64_t i = 4 * vectors + first_index(); i < count; i += stride())
    out[i] = add_repeatedly(in[i], addition);
}

/// Items of `a` inputs and `b` outputs. `Index` is 32 bits wide where that is enough: divisions are dear.
template <class Index>
__global__ void __launch_bounds__(threads)
    scalar_add_ratio(const std::uint32_t* in, std::uint32_t* out, Index outputs, Index a, Index b, Addition addition) {
  for (std::uint64_t at = first_index(); at < outputs; at += stride()) {
    const auto o = static_cast<Index>(at);
    const std::uint32_t* item = in + static_cast<std::uint64_t>(o / b) * a;
    const Index t = o % b;
    if (b >= a) {
      out[at] = add_repeatedly(item[t % a], addition);
      continue;
    }
    std::uint32_t sum = 0;
    for (Index s = t; s < a; s += b) sum += add_repeatedly(item[s], addition);
    out[at] = sum;
  }
}

// --- stated ---

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// What an output without an input is made of, as the host's stand-in has it.
__device__ std::uint32_t filler(std::uint64_t position_in_item) {
  return static_cast<std::uint32_t>(position_in_item * 31 + 7) & 0xff;
}

__device__ std::uint8_t made(std::uint64_t position_in_item, std::uint8_t) {
  return static_cast<std::uint8_t>(filler(position_in_item));
}
__device__ uint4 made(std::uint64_t position_in_item, uint4) {
  std::uint32_t words[4];
  for (std::uint64_t w = 0; w < 4; ++w) {
    const std::uint64_t t = 16 * position_in_item + 4 * w;
    words[w] = filler(t) | filler(t + 1) << 8 | filler(t + 2) << 16 | filler(t + 3) << 24;
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

/// Output t of an item is its input t mod `a`. Counts are in units of Unit, a byte or 16 bytes.
template <class Unit, class Index>
__device__ void write_outputs(const Unit* in, Unit* out, Index outputs, Index a, Index b) {
  for (std::uint64_t at = first_index(); at < outputs; at += stride()) {
    const auto o = static_cast<Index>(at);
    const Index t = o % b;
    out[at] = a == 0 ? made(t, Unit{}) : in[static_cast<std::uint64_t>(o / b) * a + t % a];
  }
}

/// Two blocks a multiprocessor fill it, so that the grid of one wave leaves no room for another kernel.
template <class Unit, class Index>
__global__ void __launch_bounds__(stated_threads, 2)
    stated(const Unit* in, Unit* out, Index outputs, Index a, Index b, std::uint64_t duration) {
  const std::uint64_t start = nanoseconds();
  write_outputs(in, out, outputs, a, b);
  if (threadIdx.x == 0)
    while (nanoseconds() - start < duration) {
    }
  __syncthreads();  // the other threads stay resident until the time is over
}

// --- host side ---

constexpr std::uint64_t largest_grid = std::numeric_limits<std::int32_t>::max();

unsigned grid(const Launch& launch, std::uint64_t work_of_threads) {
  const std::uint64_t wanted = launch.blocks > 0 ? launch.blocks : (work_of_threads + threads - 1) / threads;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(wanted, 1, largest_grid));
}

cudaStream_t stream_of(const Launch& launch) { return static_cast<cudaStream_t>(launch.stream); }

void require_operands(const Launch& launch, const char* kernel, std::uint64_t first, std::uint64_t second) {
  if (launch.operands.size() != 2 || launch.lengths.size() != 2)
    throw Error(std::string(kernel) + " has two operands, and was launched with " +
                std::to_string(launch.operands.size()));
  if (launch.lengths[0].count < first || launch.lengths[1].count < second)
    throw Error(std::string(kernel) + " of " + std::to_string(launch.items) + " items needs operands of " +
                std::to_string(first) + " and " + std::to_string(second) + " bytes, and was launched with " +
                std::to_string(launch.lengths[0].count) + " and " + std::to_string(launch.lengths[1].count));
}

bool allow_vectors(const Launch& launch) {
  return std::all_of(launch.operands.begin(), launch.operands.end(),
                     [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) % sizeof(uint4) == 0; });
}

KernelFunction make_saxpy(float a) {
  return [a](const Launch& launch) {
    const std::uint64_t n = launch.items;
    require_operands(launch, "saxpy", 4 * n, 4 * n);
    if (n == 0) return;
    const std::uint64_t vectors = allow_vectors(launch) ? n / 4 : 0;
    saxpy<<<grid(launch, std::max(vectors, n - 4 * vectors)), threads, 0, stream_of(launch)>>>(
        a, reinterpret_cast<const float*>(launch.operands[0]), reinterpret_cast<float*>(launch.operands[1]), vectors,
        n);
  };
}

KernelFunction make_scalar_add(const ScalarAddShape& shape) {
  if (shape.in_per_item == 0 || shape.out_per_item == 0)
    throw Error("scalar-add needs at least one input and one output an item");
  return [shape](const Launch& launch) {
    const std::uint64_t inputs = launch.items * shape.in_per_item;
    const std::uint64_t outputs = launch.items * shape.out_per_item;
    require_operands(launch, "scalar-add", 4 * inputs, 4 * outputs);
    if (launch.items == 0) return;
    const Addition addition{shape.scalar, shape.iterations};
    const auto* in = reinterpret_cast<const std::uint32_t*>(launch.operands[0]);
    auto* out = reinterpret_cast<std::uint32_t*>(launch.operands[1]);
    cudaStream_t stream = stream_of(launch);
    if (shape.in_per_item == 1 && shape.out_per_item == 1) {
      const std::uint64_t vectors = allow_vectors(launch) ? outputs / 4 : 0;
      scalar_add_one_to_one<<<grid(launch, std::max(vectors, outputs - 4 * vectors)), threads, 0, stream>>>(
          in, out, vectors, outputs, addition);
    } else if (std::max(inputs, outputs) <= largest_grid) {
      scalar_add_ratio<std::uint32_t><<<grid(launch, outputs), threads, 0, stream>>>(
          in, out, static_cast<std::uint32_t>(outputs), static_cast<std::uint32_t>(shape.in_per_item),
          static_cast<std::uint32_t>(shape.out_per_item), addition);
    } else {
      scalar_add_ratio<std::uint64_t><<<grid(launch, outputs), threads, 0, stream>>>(
          in, out, outputs, shape.in_per_item, shape.out_per_item, addition);
    }
  };
}

/// Blocks that the current GPU holds at once. Asked once for each GPU: a launch is timed by its callers.
template <class Unit, class Index>
unsigned one_wave() {
  static std::array<std::atomic<unsigned>, 64> known{};
  int device = 0;
  int multiprocessors = 0;
  int each = 0;
  if (cudaGetDevice(&device) != cudaSuccess) throw Error("the stated kernel cannot tell the current GPU");
  const bool keeps = static_cast<std::size_t>(device) < known.size();
  if (keeps && known[device] != 0) return known[device];
  if (cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, stated<Unit, Index>, stated_threads, 0) != cudaSuccess ||
      each <= 0)
    throw Error(std::string("the stated kernel cannot tell how many of its blocks the GPU holds: ") +
                cudaGetErrorString(cudaGetLastError()));
  const auto blocks = static_cast<unsigned>(multiprocessors * each);
  if (keeps) known[device] = blocks;
  return blocks;
}

template <class Unit, class Index>
void launch_stated(const Launch& launch, std::uint64_t in_per_item, std::uint64_t out_per_item,
                   std::uint64_t duration) {
  stated<Unit, Index><<<one_wave<Unit, Index>(), stated_threads, 0, stream_of(launch)>>>(
      reinterpret_cast<const Unit*>(launch.operands[0]), reinterpret_cast<Unit*>(launch.operands[1]),
      static_cast<Index>(launch.items * out_per_item / sizeof(Unit)), static_cast<Index>(in_per_item / sizeof(Unit)),
      static_cast<Index>(out_per_item / sizeof(Unit)), duration);
}

KernelFunction make_stated(double seconds_per_item) {
  if (!(seconds_per_item >= 0)) throw Error("a stated kernel cannot take a negative time");
  return [seconds_per_item](const Launch& launch) {
    require_operands(launch, "a stated kernel", 0, 0);
    if (launch.items == 0) return;
    const std::uint64_t in = launch.lengths[0].count / launch.items;
    const std::uint64_t out = launch.lengths[1].count / launch.items;
    if (in * launch.items != launch.lengths[0].count || out * launch.items != launch.lengths[1].count)
      throw Error("the operands of a stated kernel are not whole bytes an item");
    const auto duration =
        static_cast<std::uint64_t>(std::llround(seconds_per_item * static_cast<double>(launch.items) * 1e9));
    const bool vectors = allow_vectors(launch) && in % sizeof(uint4) == 0 && out % sizeof(uint4) == 0;
    const bool short_index = launch.lengths[1].count <= largest_grid && in <= largest_grid;
    if (vectors && short_index) return launch_stated<uint4, std::uint32_t>(launch, in, out, duration);
    if (vectors) return launch_stated<uint4, std::uint64_t>(launch, in, out, duration);
    if (short_index) return launch_stated<std::uint8_t, std::uint32_t>(launch, in, out, duration);
    launch_stated<std::uint8_t, std::uint64_t>(launch, in, out, duration);
  };
}

}  // namespace

const CudaKernels& cuda_kernels() {
  static constexpr CudaKernels table{.saxpy = make_saxpy, .scalar_add = make_scalar_add, .stated = make_stated};
  return table;
}

}  // namespace shiplap
