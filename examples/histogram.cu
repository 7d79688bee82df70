// Arrays that stay on the GPU, and a kernel that takes any grid: values are counted in bins. Every chunk reads all
// edges of the bins (broadcast), and adds to the counts of the chunks before it (carried).
//   histogram [DEVICE [N]]
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "shiplap/shiplap.hpp"

namespace {

constexpr std::uint64_t bins = 32;
constexpr unsigned block = 256;
constexpr std::uint64_t items_of_block = 4096;

/// The bin of a value between the first edge and the last.
SHIPLAP_HOST_DEVICE std::uint64_t bin_of(float value, const float* edges) {
  std::uint64_t bin = 0;
  while (bin + 1 < bins && value >= edges[bin + 1]) ++bin;
  return bin;
}

#ifdef __CUDACC__
/// A grid-stride loop, so that the kernel works with any number of blocks.
__global__ void count(shiplap::Chunk chunk, shiplap::View<const float> values, shiplap::View<const float> edges,
                      shiplap::View<unsigned long long> counts) {
  const std::uint64_t step = gridDim.x * std::uint64_t{block};
  for (std::uint64_t i = chunk.first + blockIdx.x * std::uint64_t{block} + threadIdx.x; i < chunk.end(); i += step)
    atomicAdd(&counts[bin_of(values[i], edges.data())], 1ull);
}
#endif

}  // namespace

int main(int argc, char** argv) try {
  const std::string device = argc > 1 ? argv[1] : shiplap::default_device();
  const std::uint64_t n = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1 << 22;

  const auto gpu = shiplap::open(device);
  shiplap::pinned_vector<float> values(*gpu, n);
  for (std::uint64_t i = 0; i < n; ++i) values[i] = static_cast<float>(i * 2654435761u % 65536) / 65536;
  std::array<float, bins + 1> edges{};
  for (std::uint64_t e = 0; e <= bins; ++e) edges[e] = static_cast<float>(e * e) / (bins * bins);
  std::array<unsigned long long, bins> counts{};

  const auto node = shiplap::load_or_measure(*gpu);
  const auto job = shiplap::Job{n, "histogram"}
                       .in("values", values)
                       .broadcast("edges", edges)
                       .carried("counts", counts)
                       .takes_any_grid(items_of_block, block)
#ifdef __CUDACC__
                       .kernel([](cudaStream_t stream, shiplap::Chunk chunk, auto values, auto edges, auto counts) {
                         count<<<static_cast<unsigned>(chunk.blocks), block, 0, stream>>>(chunk, values, edges, counts);
                       })
#endif
                       .host_kernel([](shiplap::Chunk chunk, auto values, auto edges, auto counts) {
                         for (std::uint64_t i = chunk.first; i < chunk.end(); ++i)
                           ++counts[bin_of(values[i], edges.data())];
                       });
  const auto plan = shiplap::plan(node, job);
  std::cout << plan.explain() << '\n' << shiplap::run(*gpu, plan, job).to_string() << '\n';

  std::array<unsigned long long, bins> expected{};
  for (const float value : values) ++expected[bin_of(value, edges.data())];
  if (counts == expected) return 0;
  std::cerr << "a bin has another count than expected\n";
  return 2;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
