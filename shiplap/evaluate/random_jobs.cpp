#include "shiplap/evaluate/random_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace shiplap {
namespace {

/// Random numbers that depend on the seed alone. The distributions of <random> differ between standard libraries.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  /// Uniformly distributed in [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double log_uniform(double low, double high) { return low * std::pow(high / low, uniform()); }
  std::uint64_t count(double low, double high) { return static_cast<std::uint64_t>(log_uniform(low, high + 0.999)); }
  /// One of the values, all equally likely.
  template <class T, std::size_t n>
  T one_of(const std::array<T, n>& choices) {
    return choices[std::min(n - 1, static_cast<std::size_t>(uniform() * n))];
  }

 private:
  std::mt19937_64 engine_;
};

constexpr double least_bytes = 64.0 * (1 << 10);
constexpr double most_bytes = 2147483648.0;

std::string scalar_add(Draw& draw) {
  const double larger = draw.log_uniform(least_bytes, most_bytes);
  const double smaller = std::max(4.0, larger / draw.log_uniform(1, 60));
  // Half of the sizes are multiples of 1 KiB, like sizes that people choose, which have many divisors.
  const double unit = draw.uniform() < 0.5 ? 4 : 1024;
  const auto whole = [&](double bytes) {
    return static_cast<std::uint64_t>(std::max(1.0, std::floor(bytes / unit)) * unit);
  };
  const bool more_in = draw.uniform() < 0.5;
  const std::uint64_t iterations = draw.uniform() < 0.5 ? 1 : draw.count(2, 4000);
  return fmt::format("scalar-add:in={},out={},iterations={}", whole(more_in ? larger : smaller),
                     whole(more_in ? smaller : larger), iterations);
}
std::string saxpy(Draw& draw) { return fmt::format("saxpy:n={}", draw.count(least_bytes / 4, most_bytes / 4)); }
std::string arccos(Draw& draw) {
  const char* precision = draw.one_of(std::array{"single", "promoted"});
  const std::uint64_t calls = draw.count(1, 512);
  return fmt::format("arccos:n={},calls={},precision={}", draw.count(least_bytes / 4, most_bytes / 4), calls,
                     precision);
}
std::string convolution(Draw& draw) {
  const double pixels = draw.log_uniform(least_bytes / 4, most_bytes / 8);
  const std::uint64_t width = draw.count(100, 8000);
  const auto height = std::max<std::uint64_t>(20, static_cast<std::uint64_t>(pixels / static_cast<double>(width)));
  return fmt::format("convolution:height={},width={},filter={}", height, width, 3 + 2 * (draw.count(1, 8) - 1));
}
std::string diffusion(Draw& draw) {
  const std::uint64_t nx = draw.count(32, 256);
  const std::uint64_t ny = draw.count(32, 256);
  const double points = draw.log_uniform(least_bytes / 8, most_bytes / 32);
  const auto nz = std::max<std::uint64_t>(16, static_cast<std::uint64_t>(points / static_cast<double>(nx * ny)));
  const char* split = draw.one_of(std::array{"levels", "steps"});
  return fmt::format("diffusion:nx={},ny={},nz={},steps={},split={}", nx, ny, nz, draw.count(1, 24), split);
}
std::string frames_of(Draw& draw, double bytes_of_a_pixel) {
  const std::uint64_t width = draw.count(64, 1920);
  const std::uint64_t height = draw.count(64, 1080);
  const double frame = static_cast<double>(width * height) * bytes_of_a_pixel;
  const auto frames =
      std::max<std::uint64_t>(2, static_cast<std::uint64_t>(draw.log_uniform(least_bytes, 5e8) / frame));
  return fmt::format("frames={},width={},height={}", frames, width, height);
}
std::string grayscale(Draw& draw) {
  const char* output = draw.one_of(std::array{"histogram", "both"});
  return fmt::format("grayscale:{},output={}", frames_of(draw, 3), output);
}
std::string histogram(Draw& draw) {
  const char* data = draw.one_of(std::array{"uniform", "degenerate", "mixed"});
  return fmt::format("histogram:{},data={}", frames_of(draw, 1), data);
}
std::string matmul(Draw& draw) {
  const std::uint64_t n = draw.count(64, 3000);
  const std::uint64_t m = draw.count(200, 12000);
  return fmt::format("matmul:p={},m={},n={}", draw.count(64, 3000), m, n);
}
std::string ocean(Draw& draw, const std::string& name) {
  const std::uint64_t nx = draw.count(50, 1200);
  const std::uint64_t ny = draw.count(50, 1200);
  const double levels = draw.log_uniform(least_bytes, 7e8) / static_cast<double>(8 * nx * ny);
  return fmt::format("{}:nx={},ny={},nz={}", name, nx, ny, std::clamp<std::uint64_t>(std::llround(levels), 3, 120));
}
std::string pop_buoydiff(Draw& draw) { return ocean(draw, "pop-buoydiff"); }
std::string pop_state(Draw& draw) {
  const std::string job = ocean(draw, "pop-state");
  return job + fmt::format(",outputs={}", draw.one_of(std::array{1, 3}));
}
std::string spmv(Draw& draw) {
  const double nonzeros = draw.log_uniform(least_bytes / 8, most_bytes / 16);
  const double in_a_row = std::min(draw.log_uniform(3, 3000), std::sqrt(nonzeros / 8));
  const auto rows = std::max<std::uint64_t>(64, static_cast<std::uint64_t>(nonzeros / in_a_row));
  const std::uint64_t most = rows * rows / 4;
  return fmt::format("spmv:rows={},nonzeros={}", rows, std::min(most, static_cast<std::uint64_t>(nonzeros)));
}

}  // namespace

std::vector<std::string> random_workloads(std::size_t count, std::uint64_t seed) {
  using Make = std::string (*)(Draw&);
  // The first kind occurs more often, because only it has independent sizes of both arrays.
  static const std::array<Make, 14> kinds{scalar_add, scalar_add,   scalar_add, scalar_add, saxpy,
                                          arccos,     convolution,  diffusion,  grayscale,  histogram,
                                          matmul,     pop_buoydiff, pop_state,  spmv};
  Draw draw(seed);
  std::vector<std::string> names;
  while (names.size() < count) names.push_back(draw.one_of(kinds)(draw));
  return names;
}

}  // namespace shiplap
