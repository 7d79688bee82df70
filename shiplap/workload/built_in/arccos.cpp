// arccos: ψ(x) = 2 arccos(x) / π - 1, applied a number of times to every float (ETH 2025), so that the work per byte
// can be chosen.
#include "shiplap/workload/built_in/arccos.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "shiplap/workload/built_in/built_in.hpp"
#include "shiplap/workload/built_in/efficiency.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

// Inputs are 2^16 values spread over [-0.97, 0.97], none of them 0, and 1 and -1. ψ contracts the spread values to 0,
// so after 30 calls they only show that there were many calls. ψ exchanges 1 and -1 exactly, in either precision, so
// they show whether the number of calls is even.
constexpr std::uint64_t spread_values = 1 << 16;
constexpr std::uint64_t value_kinds = spread_values + 2;

float value_of_kind(std::uint64_t kind) {
  if (kind >= spread_values) return kind == spread_values ? 1.0f : -1.0f;
  return static_cast<float>(2 * static_cast<std::int64_t>(kind) - 65535) * (0.97f / 65535);
}

std::uint64_t kind_at(std::uint64_t i) {
  const std::uint64_t hash = hash_of(i, 8);
  const bool one = (hash >> 16) % 16 == 0;
  return one ? spread_values + (hash >> 20) % 2 : hash % spread_values;
}

float argument_at(std::uint64_t i) { return value_of_kind(kind_at(i)); }

float psi(float x, bool promoted) {
  if (promoted) return static_cast<float>(2 * std::acos(x) / std::numbers::pi - 1);
  return std::acos(x) * (2 / std::numbers::pi_v<float>)-1;
}

// The interval in which a result must be.
struct Bounds {
  double low;
  double high;
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

// The largest relative error of 1 + ψ(x) before the result is rounded. acosf is at most 2 ulp away from the correctly
// rounded value (CUDA Programming Guide, mathematical functions), so 2.5 ulp from the true one. Single precision adds
// the errors of the rounded 2 / π and of a product that may not be fused with the subtraction. Products of errors are
// neglected.
double relative_error(bool promoted) {
  constexpr double half_ulp = 0x1p-24;
  const double errors = promoted ? 5 * half_ulp : 5 * half_ulp + 4.04e-8 + half_ulp;
  return errors * (1 + 1e-6);
}

// The bounds of the result of all calls on x. ψ is decreasing, and so are its results with the largest errors.
Bounds bounds_of(double x, const ArccosShape& shape) {
  if (std::abs(x) == 1) return shape.calls % 2 == 0 ? Bounds{x, x} : Bounds{-x, -x};
  const double relative = relative_error(shape.promoted);
  // This form of 2 arccos(x) / π - 1 has no cancellation.
  const auto psi = [](double value) { return std::asin(value) * (-2 / std::numbers::pi); };
  const auto error = [&](double value) { return (1 + value) * relative + std::abs(value) * 0x1p-24; };
  Bounds bounds{x, x};
  for (std::uint32_t i = 0; i < shape.calls; ++i) {
    const double low = psi(bounds.high), high = psi(bounds.low);
    const Bounds next{low - error(low), high + error(high)};
    if (next == bounds) break;  // further calls change nothing
    bounds = next;
  }
  return bounds;
}

// The bounds of the results of all kinds of values.
std::vector<Bounds> all_bounds(const ArccosShape& shape) {
  std::vector<Bounds> bounds(value_kinds);
  parallel_for(value_kinds, 256, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t kind = begin; kind < end; ++kind) bounds[kind] = bounds_of(value_of_kind(kind), shape);
  });
  return bounds;
}

ProgramText program_text(const ArccosShape& shape) {
  return {.kernel = kernel_text({"grid_stride", "arccos"}),
          .launch = fmt::format(
              "launch_arccos(as<float>({{0}}), as<float>({{1}}), {{items}}, {}, {}, {{blocks}}, {{stream}})",
              shape.calls, shape.promoted),
          .data = fmt::format(
              R"(constexpr int calls = {};
// Inputs are 2^16 values spread over [-0.97, 0.97], which psi contracts to 0, and 1 and -1, which psi exchanges.
std::uint64_t kind(std::uint64_t i) {{
  i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9;
  i = (i ^ i >> 27) * 0x94d049bb133111eb;
  i ^= i >> 31;
  return (i >> 16) % 16 == 0 ? 65536 + (i >> 20) % 2 : i % 65536;
}}
float value(std::uint64_t kind) {{
  return kind == 65536 ? 1 : kind == 65537 ? -1 : float(int(2 * kind) - 65535) * (0.97f / 65535);
}}
struct Bounds {{ double low, high; }};
// The bounds of the result of all calls on x. acosf has an error of up to 2.5 ulp (2 from the correctly rounded value),
// and the constant and each operation are rounded. psi is decreasing.
Bounds bounds(double x) {{
  if (x == 1 || x == -1) return calls % 2 == 0 ? Bounds{{x, x}} : Bounds{{-x, -x}};
  Bounds b{{x, x}};
  const auto psi = [](double v) {{ return -std::asin(v) / std::asin(1.0); }};  // 2 acos(v) / pi - 1
  const auto error = [](double v) {{ return (1 + v) * {} + (v < 0 ? -v : v) / (1 << 24); }};
  for (int i = 0; i < calls; ++i) {{
    const double low = psi(b.high), high = psi(b.low);
    const Bounds next{{low - error(low), high + error(high)}};
    if (next.low == b.low && next.high == b.high) break;  // further calls change nothing
    b = next;
  }}
  return b;
}}
const Bounds& bounds_at(std::uint64_t i) {{
  static std::vector<Bounds> all;
  for (std::uint64_t k = all.size(); k < 65538; ++k) all.push_back(bounds(value(k)));
  return all[kind(i)];
}}
float initial_x(std::uint64_t i) {{ return value(kind(i)); }}
float initial_y(std::uint64_t) {{ return 2; }}  // must be overwritten
float expected_y(std::uint64_t i) {{ return float((bounds_at(i).low + bounds_at(i).high) / 2); }}
double tolerance_y(std::uint64_t i) {{
  return std::max(bounds_at(i).high - expected_y(i), expected_y(i) - bounds_at(i).low);
}}
)",
              shape.calls, relative_error(shape.promoted)),
          .arrays = {{"float", "initial_x", "initial_x"}, {"float", "initial_y", "expected_y", "tolerance_y"}}};
}

// The number of operations of one call. A fused multiply-add counts as two. The code that nvcc 13 generates for ψ on
// sm_90 takes as long as 26 fused multiply-adds; conversions, division and subtraction in double precision take as long
// as another 17.
double operations_of_call(bool promoted) { return 2 * (promoted ? 26 + 17 : 26); }

Workload arccos(Parameters& parameters, const CudaKernels& cuda) {
  const std::uint64_t n = parameters.count("n", "128Mi");
  const std::uint64_t calls = parameters.count("calls", "1");
  if (calls > 512) parameters.refuse("calls must be at most 512");
  const bool promoted = parameters.one_of("precision", {"single", "promoted"}) == 1;
  const ArccosShape shape{.calls = static_cast<std::uint32_t>(calls), .promoted = promoted};
  Workload w;
  w.job = Job{.items = n,
              .name = fmt::format("arccos:n={},calls={},precision={}", n, calls, promoted ? "promoted" : "single"),
              .items_per_block = 1024,  // 256 threads with one 16-byte vector each
              .threads_per_block = 256,
              .any_grid = true,
              .each_byte_once = true,
              .flops = operations_of_call(promoted) * static_cast<double>(n) * static_cast<double>(calls),
              .device_traffic = Bytes{8 * n},
              .efficiency = efficiency::arccos}
              .shaped<const float>("x", Role::in, n)
              .shaped<float>("y", Role::out, n)
              .host_kernel([shape](Chunk chunk, View<const float> x, View<float> y) {
                for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) {
                  float value = x[i];
                  for (std::uint32_t k = 0; k < shape.calls; ++k) value = psi(value, shape.promoted);
                  y[i] = value;
                }
              });
  if (cuda.arccos != nullptr) w.job.binding.cuda = cuda.arccos(shape);
  w.program = program_text(shape);
  w.fill = [](std::span<const std::span<std::byte>> arrays) {
    generate(as_elements<float>(arrays[0]), argument_at);
    generate(as_elements<float>(arrays[1]), [](std::uint64_t) { return 2.0f; });  // 2 is not in the range of ψ
  };
  w.verify = [shape](std::span<const std::span<std::byte>> arrays) -> std::string {
    const auto x = as_elements<float>(arrays[0]);
    const auto y = as_elements<float>(arrays[1]);
    const std::vector<Bounds> bounds = all_bounds(shape);
    if (const auto i = first_difference<float>(x, argument_at); i < x.size())
      return fmt::format("input x[{}] was overwritten: {} instead of {}", i, x[i], argument_at(i));
    const auto is_right = [&](std::uint64_t i) {
      const Bounds& right = bounds[kind_at(i)];
      return right.low <= y[i] && y[i] <= right.high;
    };
    if (const auto i = first_failure(y.size(), 1 << 16, is_right); i < y.size())
      return fmt::format("y[{}] is {} instead of {} to {}", i, y[i], bounds[kind_at(i)].low, bounds[kind_at(i)].high);
    return "";
  };
  return w;
}

}  // namespace

const BuiltInWorkload arccos_workload{
    .help = {"arccos", "n=COUNT (128Mi), calls=COUNT (1), precision=single|promoted",
             "y = 2*arccos(x)/pi - 1 over n floats, as many times as there are calls (1 to 512)"},
    .make = arccos,
    .sizes = [](Bytes size) { return fmt::format("n={}", size.count / 4); },
    .items = "n"};

}  // namespace shiplap
