// Data that do not fit into the GPU's memory, in several runs: the plan keeps to a budget of device memory, and the job
// is prepared once for all runs.
//   larger_than_memory [DEVICE [MIB [BUDGET_MIB [RUNS]]]]
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/shiplap.hpp"

namespace {

constexpr std::uint32_t mixed(std::uint32_t value) { return value * 2654435761u + 12345u; }

#ifdef __CUDACC__
__global__ void mix(shiplap::Chunk chunk, shiplap::View<const uint4> in, shiplap::View<uint4> out) {
  const std::uint64_t i = chunk.first + blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i >= chunk.end()) return;
  const uint4 v = in[i];
  out[i] = {v.x * 2654435761u + 12345u, v.y * 2654435761u + 12345u, v.z * 2654435761u + 12345u,
            v.w * 2654435761u + 12345u};
}
#else
struct uint4 {
  std::uint32_t x, y, z, w;
};
#endif

}  // namespace

int main(int argc, char** argv) try {
  const auto number = [&](int i, std::uint64_t fallback) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : fallback;
  };
  const std::string device = argc > 1 ? argv[1] : shiplap::default_device();
  const std::uint64_t n = number(2, 256) * (1 << 20) / sizeof(uint4);
  const shiplap::Bytes budget{number(3, 32) << 20};
  const std::uint64_t runs = number(4, 3);
  const auto gpu = shiplap::open(device);
  shiplap::pinned_vector<uint4> in(*gpu, n);
  shiplap::pinned_vector<uint4> out(*gpu, n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto v = static_cast<std::uint32_t>(i);
    in[i] = {v, v + 1, v + 2, v + 3};
  }

  const auto node = shiplap::load_or_measure(*gpu);
  const auto job = shiplap::Job{n, "larger-than-memory"}
                       .in("in", in)
                       .out("out", out)
#ifdef __CUDACC__
                       .kernel([](cudaStream_t stream, shiplap::Chunk chunk, auto in, auto out) {
                         mix<<<static_cast<unsigned>((chunk.count + 255) / 256), 256, 0, stream>>>(chunk, in, out);
                       })
#endif
                       .host_kernel([](shiplap::Chunk chunk, auto in, auto out) {
                         for (std::uint64_t i = chunk.first; i < chunk.end(); ++i)
                           out[i] = {mixed(in[i].x), mixed(in[i].y), mixed(in[i].z), mixed(in[i].w)};
                       });
  shiplap::PlanOptions options;
  options.device_memory = budget;
  options.space.strategies = {"streams"};
  const auto plan = shiplap::plan(node, job, options);
  std::cout << plan.explain() << '\n';

  shiplap::Prepared prepared = shiplap::prepare(*gpu, plan, job);
  std::cout << shiplap::to_string(shiplap::memory_at(prepared.schedule(), shiplap::Place::gpu()))
            << " of device memory for arrays of " << shiplap::to_string(shiplap::Bytes{2 * n * sizeof(uint4)}) << '\n';
  for (std::uint64_t run = 0; run < runs; ++run)
    std::cout << shiplap::report_of(*gpu, plan, prepared.run()).to_string() << '\n';

  for (std::uint64_t i = 0; i < n; ++i)
    if (out[i].x != mixed(in[i].x) || out[i].w != mixed(in[i].w)) {
      std::cerr << "element " << i << " is wrong\n";
      return 2;
    }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
