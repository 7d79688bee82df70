// A library call as the kernel: Thrust grades the frames of a film in the stream that it is given.
//   library_call [DEVICE [FRAMES [PIXELS]]]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "shiplap/shiplap.hpp"

#ifdef __CUDACC__
#include <thrust/execution_policy.h>
#include <thrust/transform.h>
#endif

namespace {

/// The tone curve, which maps brightness from 0 to 1 to brightness from 0 to 1 with more contrast.
struct Curve {
  SHIPLAP_HOST_DEVICE float operator()(float v) const { return v * v * (3.0f - 2.0f * v); }
};

}  // namespace

int main(int argc, char** argv) try {
  const std::string device = argc > 1 ? argv[1] : shiplap::default_device();
  const std::uint64_t frames = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 64;
  const std::uint64_t pixels = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 640 * 480;
  std::vector<float> film(frames * pixels);
  std::vector<float> graded(frames * pixels);
  for (std::uint64_t i = 0; i < film.size(); ++i) film[i] = static_cast<float>(i % 1021) / 1020.0f;

  const auto gpu = shiplap::open(device);
  const auto node = shiplap::load_or_measure(*gpu);
  const auto job = shiplap::Job{frames, "grade"}
                       .in("film", film)
                       .out("graded", graded)
#ifdef __CUDACC__
                       .kernel([](cudaStream_t stream, shiplap::Chunk, auto film, auto graded) {
                         thrust::transform(thrust::cuda::par_nosync.on(stream), film.data(), film.data() + film.size(),
                                           graded.data(), Curve{});
                       })
#endif
                       .host_kernel([](shiplap::Chunk, auto film, auto graded) {
                         std::transform(film.data(), film.data() + film.size(), graded.data(), Curve{});
                       });
  const auto plan = shiplap::plan(node, job);
  std::cout << plan.explain() << '\n' << shiplap::run(*gpu, plan, job).to_string() << '\n';

  for (std::uint64_t i = 0; i < film.size(); ++i)
    if (std::abs(graded[i] - Curve{}(film[i])) > 1e-6f) {
      std::cerr << "pixel " << i << " is " << graded[i] << '\n';
      return 2;
    }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
