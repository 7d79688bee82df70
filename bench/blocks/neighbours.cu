#include <cuda_runtime_api.h>

#include "bench/blocks/neighbours.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap::bench {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned blocks_of_computing = 8448;  // several waves on any GPU

__global__ void add_one(const float4* from, float4* to, std::uint64_t count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float4 value = from[i];
  value.x += 1;
  to[i] = value;
}

__global__ void multiply_and_add(float* to, std::uint32_t rounds) {
  float a = static_cast<float>(threadIdx.x);
  float b = a + 1;
  float c = a + 2;
  float d = a + 3;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    a = a * 0.999f + 0.001f;
    b = b * 0.999f + 0.001f;
    c = c * 0.999f + 0.001f;
    d = d * 0.999f + 0.001f;
  }
  if (a + b + c + d == -1) to[blockIdx.x] = a;  // never true
}

double waves(const void* kernel, double blocks) {
  int on_an_sm = 0;
  int sms = 0;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_an_sm, kernel, threads, 0) != cudaSuccess ||
      cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) != cudaSuccess || on_an_sm * sms == 0)
    throw Error("the driver does not say how many thread blocks of a neighbour are resident");
  return blocks / (on_an_sm * sms);
}

}  // namespace

double waves_of_memory_bound(Bytes size) {
  return waves(reinterpret_cast<const void*>(&add_one), in_bytes(size) / 2 / sizeof(float4) / threads);
}
double waves_of_computing() { return waves(reinterpret_cast<const void*>(&multiply_and_add), blocks_of_computing); }

void launch_memory_bound(std::byte* memory, Bytes size, void* stream) {
  const std::uint64_t half = size.count / 2 / sizeof(float4);
  auto* from = reinterpret_cast<float4*>(memory);
  for (unsigned i = 0; i < passes_of_memory_bound; ++i)
    add_one<<<static_cast<unsigned>((half + threads - 1) / threads), threads, 0, static_cast<cudaStream_t>(stream)>>>(
        from, from + half, half);
}

void launch_computing(std::byte* memory, std::uint32_t rounds, void* stream) {
  multiply_and_add<<<blocks_of_computing, threads, 0, static_cast<cudaStream_t>(stream)>>>(
      reinterpret_cast<float*>(memory), rounds);
}

}  // namespace shiplap::bench

void neighbour_memory_bound(void* memory, std::uint64_t size, void* stream) {
  shiplap::bench::launch_memory_bound(static_cast<std::byte*>(memory), shiplap::Bytes{size}, stream);
}
