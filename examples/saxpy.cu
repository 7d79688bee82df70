// y = a x + y over vectors as they come from std::vector, through a GPU or, without one, through a simulated one.
//   saxpy [DEVICE [N]]
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "shiplap/shiplap.hpp"

namespace {

constexpr float a = 2.5f;

#ifdef __CUDACC__
__global__ void saxpy(shiplap::Chunk chunk, shiplap::View<const float> x, shiplap::View<float> y) {
  const std::uint64_t i = chunk.first + blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < chunk.end()) y[i] = a * x[i] + y[i];
}
#endif

}  // namespace

int main(int argc, char** argv) try {
  const std::string device = argc > 1 ? argv[1] : shiplap::default_device();
  const std::uint64_t n = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1 << 24;
  std::vector<float> x(n, 1.0f);
  std::vector<float> y(n);
  for (std::uint64_t i = 0; i < n; ++i) y[i] = static_cast<float>(i % 1000);

  const auto gpu = shiplap::open(device);
  const auto node = shiplap::load_or_measure(*gpu);
  const auto job = shiplap::Job{n, "saxpy"}
                       .in("x", x)
                       .inout("y", y)
#ifdef __CUDACC__
                       .kernel([](cudaStream_t stream, shiplap::Chunk chunk, auto x, auto y) {
                         saxpy<<<static_cast<unsigned>((chunk.count + 255) / 256), 256, 0, stream>>>(chunk, x, y);
                       })
#endif
                       .host_kernel([](shiplap::Chunk chunk, auto x, auto y) {
                         for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) y[i] = a * x[i] + y[i];
                       });
  const auto plan = shiplap::plan(node, job);
  std::cout << plan.explain() << '\n' << shiplap::run(*gpu, plan, job).to_string() << '\n';

  for (std::uint64_t i = 0; i < n; ++i)
    if (y[i] != a + static_cast<float>(i % 1000)) {
      std::cerr << "y[" << i << "] is " << y[i] << '\n';
      return 1;
    }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
