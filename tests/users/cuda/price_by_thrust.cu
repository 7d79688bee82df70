// For a quant who has Thrust code: prices options from host vectors by Thrust, on the GPU or, where none is, on the
// host.
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/transform.h>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <shiplap/shiplap.hpp>
#include <string>

/// The price of a European call after Black and Scholes.
struct Call {
  float rate, volatility, years;

  template <class Real>
  SHIPLAP_HOST_DEVICE Real price(Real spot, Real strike) const {
    const Real spread = Real(volatility) * std::sqrt(Real(years));
    const Real d1 = (std::log(spot / strike) + Real(rate) * Real(years)) / spread + spread / 2;
    return spot * normal(d1) - strike * std::exp(-Real(rate) * Real(years)) * normal(d1 - spread);
  }
  template <class Real>
  SHIPLAP_HOST_DEVICE static Real normal(Real x) {
    return std::erfc(-x * Real(0.70710678118654752)) / 2;
  }
  SHIPLAP_HOST_DEVICE float operator()(float spot, float strike) const { return price(spot, strike); }
};

int main(int argc, char** argv) try {
  const std::string device = argc > 1 ? argv[1] : shiplap::default_device();
  const std::uint64_t options = argc > 2 ? std::stoull(argv[2]) : 4 << 20;
  thrust::host_vector<float> spots(options), strikes(options), calls(options);
  for (std::uint64_t i = 0; i < options; ++i) {
    spots[i] = 80.0f + static_cast<float>(i % 41);
    strikes[i] = 90.0f + static_cast<float>(i % 23);
  }
  const Call call{0.03f, 0.2f, 1.5f};

  const auto gpu = shiplap::open(device);
  const auto node = shiplap::load_or_measure(*gpu);
  const auto job = shiplap::Job{options, "call-prices"}
                       .in("spots", spots)
                       .in("strikes", strikes)
                       .out("calls", calls)
                       .kernel([=](cudaStream_t stream, shiplap::Chunk, auto spots, auto strikes, auto calls) {
                         thrust::transform(thrust::cuda::par_nosync.on(stream), spots.data(),
                                           spots.data() + spots.size(), strikes.data(), calls.data(), call);
                       })
                       .host_kernel([=](shiplap::Chunk, auto spots, auto strikes, auto calls) {
                         thrust::transform(thrust::host, spots.data(), spots.data() + spots.size(), strikes.data(),
                                           calls.data(), call);
                       })
                       .with_flops(60.0 * static_cast<double>(options));
  const auto plan = shiplap::plan(node, job);
  const auto report = shiplap::run(*gpu, plan, job);
  std::cout << plan.summary() << '\n' << report.to_string() << '\n';
  if (report.simulated) std::cout << "There is no GPU: Thrust computed on the host, and the times are simulated.\n";

  const bool as_in_textbooks = std::abs(Call{0.05f, 0.2f, 1}.price(100.0, 100.0) - 10.4506) < 1e-4;
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < options; ++i)
    wrong += !(std::abs(calls[i] - call.price<double>(spots[i], strikes[i])) < 1e-4);  // NaN is wrong, too
  std::cout << wrong << " wrong prices\n";
  return as_in_textbooks && wrong == 0 ? 0 : 2;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
