// Ordinary vectors (pageable memory), used once or many times. The plan chooses whether they are staged through pinned
// rings or pinned first.
//   pageable_vectors [DEVICE [N [USES]]]
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "shiplap/shiplap.hpp"

namespace {

SHIPLAP_HOST_DEVICE inline double density(double temperature, double salinity) {
  return 1000.0 + 0.8 * salinity - 0.2 * temperature - 0.0035 * temperature * temperature;
}

#ifdef __CUDACC__
__global__ void densities(shiplap::Chunk chunk, shiplap::View<const double> t, shiplap::View<const double> s,
                          shiplap::View<double> rho) {
  const std::uint64_t i = chunk.first + blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < chunk.end()) rho[i] = density(t[i], s[i]);
}
#endif

}  // namespace

int main(int argc, char** argv) try {
  const std::string device = argc > 1 ? argv[1] : shiplap::default_device();
  const std::uint64_t n = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1 << 23;
  const std::uint64_t uses = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  std::vector<double> t(n);
  std::vector<double> s(n);
  std::vector<double> rho(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    t[i] = static_cast<double>(i % 300) / 10;
    s[i] = 30.0 + static_cast<double>(i % 70) / 10;
  }

  const auto gpu = shiplap::open(device);
  const auto node = shiplap::load_or_measure(*gpu);
  const auto job =
      shiplap::Job{n, "density"}
          .in("t", t)
          .in("s", s)
          .out("rho", rho)
#ifdef __CUDACC__
          .kernel([](cudaStream_t stream, shiplap::Chunk chunk, auto t, auto s, auto rho) {
            densities<<<static_cast<unsigned>((chunk.count + 255) / 256), 256, 0, stream>>>(chunk, t, s, rho);
          })
#endif
          .host_kernel([](shiplap::Chunk chunk, auto t, auto s, auto rho) {
            for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) rho[i] = density(t[i], s[i]);
          });
  const auto plan = shiplap::plan(node, job, {.runs = uses});
  std::cout << plan.explain() << '\n';
  shiplap::Prepared prepared = shiplap::prepare(*gpu, plan, job);
  for (std::uint64_t use = 0; use < uses; ++use)
    std::cout << shiplap::report_of(*gpu, plan, prepared.run()).to_string() << '\n';

  for (std::uint64_t i = 0; i < n; ++i)
    if (std::abs(rho[i] - density(t[i], s[i])) > 1e-9) {
      std::cerr << "rho[" << i << "] is " << rho[i] << '\n';
      return 2;
    }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
