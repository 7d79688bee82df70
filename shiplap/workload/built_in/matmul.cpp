// matmul: C = A · B in single precision, cut along the rows of A and C (Gómez-Luna 2012: m = 2p, n = p).
#include "shiplap/workload/built_in/matmul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "shiplap/workload/built_in/built_in.hpp"
#include "shiplap/workload/built_in/efficiency.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

float a_at(std::uint64_t i) { return static_cast<float>(small_whole(i, 5)); }
float b_at(std::uint64_t i) { return static_cast<float>(small_whole(i, 6)); }

void multiply(const MatmulShape& shape, Chunk chunk, View<const float> a, View<const float> b, View<float> c) {
  constexpr std::uint64_t at_once = 8;  // number of rows for which B is read once
  for (std::uint64_t first = chunk.first; first < chunk.end(); first += at_once) {
    const std::uint64_t end = std::min(first + at_once, chunk.end());
    std::fill(&c[first * shape.n], &c[end * shape.n - 1] + 1, 0.0f);
    for (std::uint64_t k = 0; k < shape.p; ++k) {
      const float* b_row = &b[k * shape.n];
      for (std::uint64_t i = first; i < end; ++i) {
        const float factor = a[i * shape.p + k];
        float* c_row = &c[i * shape.n];
        for (std::uint64_t j = 0; j < shape.n; ++j) c_row[j] += factor * b_row[j];
      }
    }
  }
}

// Freivalds' check, row by row: for a random vector x, C · x must equal A · (B · x). It calculates in whole numbers
// modulo 2^64 with odd elements of x. A single wrong element of a row is always found, and several are missed with a
// probability of 2^-32.
class FreivaldsCheck {
 public:
  explicit FreivaldsCheck(const MatmulShape& shape) : shape_(shape), x_(shape.n), b_x_(shape.p) {
    for (std::uint64_t j = 0; j < shape.n; ++j) x_[j] = hash_of(j, 8) | 1;
    parallel_for(shape.p, 16, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t k = begin; k < end; ++k)
        for (std::uint64_t j = 0; j < shape_.n; ++j)
          b_x_[k] += static_cast<std::uint64_t>(small_whole(k * shape_.n + j, 6)) * x_[j];
    });
  }

  bool is_good(std::uint64_t row, std::span<const float> c) const {
    const auto bound = static_cast<float>(16 * exact_terms);
    std::uint64_t found = 0;
    for (std::uint64_t j = 0; j < shape_.n; ++j) {
      const float value = c[row * shape_.n + j];
      if (!(std::abs(value) <= bound)) return false;
      const auto whole = static_cast<std::int64_t>(value);
      // Bits are compared, because -0 equals 0.
      if (std::bit_cast<std::uint32_t>(static_cast<float>(whole)) != std::bit_cast<std::uint32_t>(value)) return false;
      found += static_cast<std::uint64_t>(whole) * x_[j];
    }
    std::uint64_t expected = 0;
    for (std::uint64_t k = 0; k < shape_.p; ++k)
      expected += static_cast<std::uint64_t>(small_whole(row * shape_.p + k, 5)) * b_x_[k];
    return found == expected;
  }

  std::string first_wrong_of_row(std::uint64_t row, std::span<const float> c) const {
    std::vector<std::int64_t> expected(shape_.n);
    for (std::uint64_t k = 0; k < shape_.p; ++k)
      for (std::uint64_t j = 0; j < shape_.n; ++j)
        expected[j] += small_whole(row * shape_.p + k, 5) * small_whole(k * shape_.n + j, 6);
    std::uint64_t j = 0;
    while (j + 1 < shape_.n && std::bit_cast<std::uint32_t>(static_cast<float>(expected[j])) ==
                                   std::bit_cast<std::uint32_t>(c[row * shape_.n + j]))
      ++j;
    return fmt::format("c[{}] (row {}, column {}) is {} instead of {}", row * shape_.n + j, row, j,
                       c[row * shape_.n + j], expected[j]);
  }

 private:
  MatmulShape shape_;
  std::vector<std::uint64_t> x_;
  std::vector<std::uint64_t> b_x_;
};

/// Number of tiles that occupy nearly all SMs of a large GPU (an H200 has 132).
constexpr std::uint64_t enough_tiles = 128;

/// The side of the largest square tile for which the whole product has enough tiles.
unsigned tile_of(std::uint64_t m, std::uint64_t n) {
  const auto tiles = [&](std::uint64_t side) { return ((m + side - 1) / side) * ((n + side - 1) / side); };
  return tiles(128) >= enough_tiles ? 128 : tiles(64) >= enough_tiles ? 64 : 32;
}

ProgramText program_text(const MatmulShape& shape) {
  return {
      .kernel = kernel_text({"grid_stride", "async_copy", "matmul"}),
      .launch = fmt::format(
          "launch_matmul<{}>(as<float>({{0}}), as<float>({{1}}), as<float>({{2}}), {{items}}, {}, {}, {{blocks}}, "
          "{{stream}})",
          shape.tile, shape.n, shape.p),
      .data =
          fmt::format(
              R"(// A[i][k] = r(i) + s(k) and B[k][j] = t(k) + u(j), whole numbers from 1 to 4: all sums are exact in float, and
// C[i][j] = r(i) sum(t) + p r(i) u(j) + sum(s t) + u(j) sum(s).
constexpr std::uint64_t n = {}, p = {};
)",
              shape.n, shape.p) +
          R"(std::uint64_t r(std::uint64_t i) { return 1 + i * 7 % 11 % 2; }
std::uint64_t s(std::uint64_t k) { return k * 5 % 13 % 3; }
std::uint64_t t(std::uint64_t k) { return 1 + k * 11 % 17 % 2; }
std::uint64_t u(std::uint64_t j) { return j * 3 % 19 % 3; }
struct Sums {
  std::uint64_t s = 0, t = 0, st = 0;
};
Sums sums() {
  Sums sum;
  for (std::uint64_t k = 0; k < p; ++k) sum.s += s(k), sum.t += t(k), sum.st += s(k) * t(k);
  return sum;
}
float initial_a(std::uint64_t i) { return float(r(i / p) + s(i % p)); }
float initial_b(std::uint64_t i) { return float(t(i / n) + u(i % n)); }
float initial_c(std::uint64_t i) { return float(i % 1000) + 0.5f; }  // must be overwritten
float expected_c(std::uint64_t i) {
  static const Sums sum = sums();
  return float(r(i / n) * (sum.t + p * u(i % n)) + sum.st + u(i % n) * sum.s);
}
)",
      .arrays = {{"float", "initial_a", "initial_a"},
                 {"float", "initial_b", "initial_b"},
                 {"float", "initial_c", "expected_c"}}};
}

Job matmul_job(const MatmulShape& shape, std::uint64_t m) {
  const std::uint64_t n = shape.n;
  const std::uint64_t p = shape.p;
  return Job{.items = m,
             .name = fmt::format("matmul:p={},m={},n={}", p, m, n),
             .items_per_block = shape.tile,
             .blocks_per_item_group = (n + shape.tile - 1) / shape.tile,
             .threads_per_block = shape.tile == 32 ? 64u : 256u,
             .any_grid = true,
             .each_byte_once = false,  // blocks of the same rows read the same part of A
             .flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(p),
             .device_traffic = Bytes{4 * (m * p + p * n + m * n)},
             .efficiency = efficiency::matmul}
      .shaped<const float>("a", Role::in, m * p)
      .shaped<const float>("b", Role::broadcast, p * n)
      .shaped<float>("c", Role::out, m * n)
      .host_kernel([shape](Chunk chunk, View<const float> a, View<const float> b, View<float> c) {
        multiply(shape, chunk, a, b, c);
      });
}

/// Names the first input that was overwritten, or the first wrong element of the first row that the check refuses.
std::string wrong_product(const MatmulShape& shape, std::uint64_t m, std::span<const std::span<std::byte>> arrays) {
  const auto a = as_elements<float>(arrays[0]);
  const auto b = as_elements<float>(arrays[1]);
  const auto c = as_elements<float>(arrays[2]);
  if (const auto i = first_difference<float>(a, a_at); i < a.size())
    return fmt::format("input a[{}] was overwritten: {} instead of {}", i, a[i], a_at(i));
  if (const auto i = first_difference<float>(b, b_at); i < b.size())
    return fmt::format("input b[{}] was overwritten: {} instead of {}", i, b[i], b_at(i));
  const FreivaldsCheck check(shape);
  const std::uint64_t row = first_failure(m, 16, [&](std::uint64_t i) { return check.is_good(i, c); });
  return row < m ? check.first_wrong_of_row(row, c) : "";
}

Workload matmul(Parameters& parameters, const CudaKernels& cuda) {
  const std::uint64_t p = parameters.count("p", "4096");
  if (p > exact_terms) parameters.refuse("p must be at most 2^20, so that the sums are exact");
  const std::uint64_t m = parameters.count("m", fmt::format("{}", 2 * p));
  const std::uint64_t n = parameters.count("n", fmt::format("{}", p));
  if (std::max(m, n) > std::numeric_limits<std::int32_t>::max()) parameters.refuse("m and n must be below 2^31");
  const MatmulShape shape{.n = n, .p = p, .tile = tile_of(m, n)};
  Workload w;
  w.job = matmul_job(shape, m);
  if (cuda.matmul != nullptr) w.job.binding.cuda = cuda.matmul(shape);
  w.program = program_text(shape);
  w.fill = [](std::span<const std::span<std::byte>> arrays) {
    generate(as_elements<float>(arrays[0]), a_at);
    generate(as_elements<float>(arrays[1]), b_at);
    generate(as_elements<float>(arrays[2]), [](std::uint64_t i) { return not_whole(i, 7); });
  };
  w.verify = [shape, m](std::span<const std::span<std::byte>> arrays) { return wrong_product(shape, m, arrays); };
  return w;
}

}  // namespace

const BuiltInWorkload matmul_workload{.help = {"matmul", "p=COUNT (4096), m=COUNT (2p), n=COUNT (p)",
                                               "C = A*B, m x p times p x n floats, cut along the rows; B stays"},
                                      .make = matmul,
                                      .sizes = [](Bytes size) {
                                        const auto p = static_cast<std::uint64_t>(std::sqrt(in_bytes(size) / 8));
                                        return fmt::format("p={}", std::max<std::uint64_t>(1, p));
                                      }};

}  // namespace shiplap
