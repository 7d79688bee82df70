// A program of someone who has installed shiplap and a CUDA toolkit: one function is the kernel on a GPU and, where the
// first argument names none, that on the simulated H200. Ends with 1 when a result is wrong.
#include <cstdint>
#include <iostream>
#include <vector>

#include "shiplap/shiplap.hpp"

namespace {

SHIPLAP_HOST_DEVICE std::uint32_t mixed(std::uint32_t v) { return (v ^ (v >> 16)) * 0x45d9f3bu; }

__global__ void mix(shiplap::Chunk chunk, shiplap::View<const std::uint32_t> from, shiplap::View<std::uint32_t> to) {
  const std::uint64_t i = chunk.first + blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < chunk.end()) to[i] = mixed(from[i]);
}

}  // namespace

int main(int argc, char** argv) try {
  constexpr std::uint64_t n = 1 << 20;
  std::vector<std::uint32_t> from(n);
  std::vector<std::uint32_t> to(n);
  for (std::uint64_t i = 0; i < n; ++i) from[i] = static_cast<std::uint32_t>(i);

  const auto gpu = shiplap::open(argc > 1 ? argv[1] : "virtual:h200");
  const auto job = shiplap::Job{n, "mix"}
                       .in("from", from)
                       .out("to", to)
                       .kernel([](cudaStream_t stream, shiplap::Chunk chunk, auto from, auto to) {
                         mix<<<static_cast<unsigned>((chunk.count + 255) / 256), 256, 0, stream>>>(chunk, from, to);
                       })
                       .host_kernel([](shiplap::Chunk chunk, auto from, auto to) {
                         for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) to[i] = mixed(from[i]);
                       });
  const auto plan = shiplap::plan(shiplap::load_or_measure(*gpu), job);
  std::cout << shiplap::run(*gpu, plan, job).to_string() << '\n';

  for (std::uint64_t i = 0; i < n; ++i)
    if (to[i] != mixed(from[i])) {
      std::cerr << "to[" << i << "] is " << to[i] << '\n';
      return 1;
    }
} catch (const shiplap::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
