// A colleague of signal processing: smooths a pageable recording with a window of five samples, and has never used
// CUDA.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <shiplap/shiplap.hpp>
#include <string>
#include <vector>

constexpr std::uint64_t samples = 1 << 21;
constexpr std::uint64_t reach = 2;

float average_at(const auto& signal, std::uint64_t i) {
  const std::uint64_t first = i < reach ? 0 : i - reach;
  const std::uint64_t last = i + reach < samples ? i + reach : samples - 1;
  float sum = 0;
  for (std::uint64_t k = first; k <= last; ++k) sum += signal[k];
  return sum / static_cast<float>(last - first + 1);
}

int main(int argc, char** argv) {
  const std::string device = argc > 1 ? argv[1] : "virtual:h200";
  std::vector<float> signal(samples), smooth(samples);
  for (std::uint64_t i = 0; i < samples; ++i)
    signal[i] = std::sin(0.001f * static_cast<float>(i)) + static_cast<float>(i % 7);

  const auto gpu = shiplap::open(device);
  const auto node = shiplap::load_or_measure(*gpu);
  const auto job = shiplap::Job{samples, "moving-average"}
                       .in("signal", signal, shiplap::halo(reach, reach))
                       .out("smooth", smooth)
                       .host_kernel([](shiplap::Chunk chunk, auto signal, auto smooth) {
                         for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) smooth[i] = average_at(signal, i);
                       });
  const auto plan = shiplap::plan(node, job, {.runs = 3, .check_reach = true});
  if (plan.explain().empty() || plan.explain(true).size() <= plan.explain().size()) return 1;

  const auto difference = [&]() -> std::string {
    for (std::uint64_t i = 0; i < samples; ++i)
      if (smooth[i] != average_at(signal, i)) return "sample " + std::to_string(i);
    return "";
  };
  const auto report = shiplap::run(*gpu, plan, job, {.repeats = 3, .verify = difference});
  report.require_right();
  if (!report.verified() || !(report.efficiency() > 0)) return 1;
  std::cout << plan.summary() << '\n' << report.to_string() << '\n';
}
