// A library with a batch size, and scratch memory: cuFFT transforms signals in place. An item is a group of signals,
// because cuFFT's plan is made before the job, for one group. Its work area is scratch, which chunks never share.
//   fft_batch [DEVICE [GROUPS]]
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/shiplap.hpp"

#ifdef __CUDACC__
#include <cufft.h>
#endif

namespace {

using Complex = std::complex<float>;
constexpr int length = 1024;  // elements of a signal
constexpr int signals = 128;  // signals of a group
constexpr std::uint64_t of_group = std::uint64_t{length} * signals;

#ifdef __CUDACC__
void check(cufftResult result) {
  if (result != CUFFT_SUCCESS) throw std::runtime_error("cuFFT has failed with " + std::to_string(result));
}

/// cuFFT's plan of a group, and the size of its work area in bytes.
struct GroupPlan {
  cufftHandle handle = 0;
  std::size_t work = 0;
  GroupPlan() {
    check(cufftCreate(&handle));
    check(cufftSetAutoAllocation(handle, 0));
    check(cufftMakePlan1d(handle, length, CUFFT_C2C, signals, &work));
  }
  GroupPlan(const GroupPlan&) = delete;
  GroupPlan& operator=(const GroupPlan&) = delete;
  ~GroupPlan() { cufftDestroy(handle); }
};
#endif

/// Transforms one signal in place (radix 2).
void transform(Complex* signal) {
  for (int i = 1, j = 0; i < length; ++i) {
    int bit = length / 2;
    for (; j & bit; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(signal[i], signal[j]);
  }
  for (int size = 2; size <= length; size *= 2)
    for (int k = 0; k < size / 2; ++k) {
      const Complex factor =
          std::polar(1.0f, -2 * std::numbers::pi_v<float> * static_cast<float>(k) / static_cast<float>(size));
      for (int i = k; i < length; i += size) {
        const Complex odd = factor * signal[i + size / 2];
        signal[i + size / 2] = signal[i] - odd;
        signal[i] += odd;
      }
    }
}

/// Every signal is a single wave.
int frequency(std::uint64_t signal) { return static_cast<int>(signal * 7 % length); }

}  // namespace

int main(int argc, char** argv) try {
  const std::string device = argc > 1 ? argv[1] : shiplap::default_device();
  const std::uint64_t groups = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 16;

  const auto gpu = shiplap::open(device);
  shiplap::pinned_vector<Complex> data(*gpu, groups * of_group);
  for (std::uint64_t i = 0; i < data.size(); ++i) {
    const auto turns = static_cast<float>(i % length * frequency(i / length) % length) / length;
    data[i] = std::polar(1.0f, 2 * std::numbers::pi_v<float> * turns);
  }

  std::size_t work = 0;
#ifdef __CUDACC__
  const auto plan_of_group = gpu->info().is_virtual ? nullptr : std::make_unique<GroupPlan>();
  if (plan_of_group) work = plan_of_group->work;
#endif
  const auto node = shiplap::load_or_measure(*gpu);
  const auto job = shiplap::Job{groups, "fft"}
                       .inout("signals", data)
                       .scratch<char>("work", groups * std::max<std::size_t>(work, 1))
#ifdef __CUDACC__
                       .kernel([&](cudaStream_t stream, shiplap::Chunk chunk, auto data, auto work) {
                         const cufftHandle handle = plan_of_group->handle;
                         check(cufftSetStream(handle, stream));
                         check(cufftSetWorkArea(handle, work.data()));
                         for (std::uint64_t group = chunk.first; group < chunk.end(); ++group) {
                           auto* const first =
                               reinterpret_cast<cufftComplex*>(data.data() + (group - chunk.first) * of_group);
                           check(cufftExecC2C(handle, first, first, CUFFT_FORWARD));
                         }
                       })
#endif
                       .host_kernel([](shiplap::Chunk chunk, auto data, auto) {
                         for (std::uint64_t s = chunk.first * signals; s < chunk.end() * signals; ++s)
                           transform(&data[s * length]);
                       });
  const auto plan = shiplap::plan(node, job);
  std::cout << plan.explain() << '\n' << shiplap::run(*gpu, plan, job).to_string() << '\n';

  for (std::uint64_t i = 0; i < data.size(); ++i) {
    const float expected = static_cast<int>(i % length) == frequency(i / length) ? length : 0;
    if (std::abs(data[i] - expected) <= 0.01f * length) continue;
    std::cerr << "signal " << i / length << " has " << data[i] << " at " << i % length << '\n';
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
