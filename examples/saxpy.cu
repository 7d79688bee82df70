// The shortest program: y = a x + y over vectors, on a GPU or, without one, on a simulated GPU.
//   saxpy [DEVICE]
#include <iostream>
#include <vector>

#include "shiplap/shiplap.hpp"

constexpr float a = 2.5f;

#ifdef __CUDACC__
__global__ void saxpy(shiplap::Chunk chunk, shiplap::View<const float> x, shiplap::View<float> y) {
  const std::uint64_t i = chunk.first + blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < chunk.end()) y[i] = a * x[i] + y[i];
}
#endif

int main(int argc, char** argv) try {
  std::vector<float> x(1 << 24, 1.0f);
  std::vector<float> y(1 << 24, 2.0f);

  const auto gpu = shiplap::open(argc > 1 ? argv[1] : shiplap::default_device());
  const auto node = shiplap::load_or_measure(*gpu);
  const auto job = shiplap::Job{x.size(), "saxpy"}
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
  for (const float result : y)
    if (result != 4.5f) return 2;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
