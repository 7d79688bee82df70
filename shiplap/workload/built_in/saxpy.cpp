// saxpy: y = a·x + y (Harris 2012).
#include <fmt/format.h>

#include "shiplap/workload/built_in/built_in.hpp"
#include "shiplap/workload/built_in/efficiency.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

constexpr float saxpy_factor = 2.5f;

// A multiple of 1/1024 below 4, so that a·x + y is exact in float, with fused and with separate rounding.
float fraction_at(std::uint64_t i, std::uint64_t stream) {
  return static_cast<float>(1 + (hash_of(i, stream) & 0xfff)) / 1024.0f;
}
float x_at(std::uint64_t i) { return fraction_at(i, 1); }
float y_at(std::uint64_t i) { return fraction_at(i, 2); }

Workload saxpy(Parameters& parameters, const CudaKernels& cuda) {
  const std::uint64_t n = parameters.count("n", "64Mi");
  Workload w;
  w.job = Job{.items = n,
              .name = fmt::format("saxpy:n={}", n),
              .items_per_block = 1024,  // 256 threads with one 16-byte vector each
              .threads_per_block = 256,
              .any_grid = true,
              .each_byte_once = true,
              .flops = 2.0 * static_cast<double>(n),
              .device_traffic = Bytes{12 * n},
              .efficiency = efficiency::saxpy}
              .shaped<const float>("x", Role::in, n)
              .shaped<float>("y", Role::inout, n)
              .host_kernel([](Chunk chunk, View<const float> x, View<float> y) {
                for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) y[i] = saxpy_factor * x[i] + y[i];
              });
  if (cuda.saxpy != nullptr) w.job.binding.cuda = cuda.saxpy(saxpy_factor);
  w.program = {
      .kernel = kernel_text({"grid_stride", "saxpy"}),
      .launch = fmt::format("launch_saxpy({}f, as<float>({{0}}), as<float>({{1}}), {{items}}, {{blocks}}, {{stream}})",
                            saxpy_factor),
      .data = fmt::format(
          R"(// Elements are multiples of 1/1024 below 4, so that a * x + y is exact in float, fused or not.
float initial_x(std::uint64_t i) {{ return float(1 + i * 7 % 4093) / 1024; }}
float initial_y(std::uint64_t i) {{ return float(1 + i * 5 % 4091) / 1024; }}
float expected_y(std::uint64_t i) {{ return {}f * initial_x(i) + initial_y(i); }}
)",
          saxpy_factor),
      .arrays = {{"float", "initial_x", "initial_x"}, {"float", "initial_y", "expected_y"}}};
  w.fill = [](std::span<const std::span<std::byte>> arrays) {
    generate(as_elements<float>(arrays[0]), x_at);
    generate(as_elements<float>(arrays[1]), y_at);
  };
  w.verify = [](std::span<const std::span<std::byte>> arrays) -> std::string {
    const auto x = as_elements<float>(arrays[0]);
    const auto y = as_elements<float>(arrays[1]);
    const auto expected = [](std::uint64_t i) { return saxpy_factor * x_at(i) + y_at(i); };
    if (const auto i = first_difference<float>(x, x_at); i < x.size())
      return fmt::format("input x[{}] was overwritten: {} instead of {}", i, x[i], x_at(i));
    if (const auto i = first_difference<float>(y, expected); i < y.size())
      return fmt::format("y[{}] is {} instead of {}", i, y[i], expected(i));
    return "";
  };
  return w;
}

}  // namespace

const BuiltInWorkload saxpy_workload{.help = {"saxpy", "n=COUNT (64Mi)", "y = a*x + y over n floats"},
                                     .make = saxpy,
                                     .sizes = [](Bytes size) { return fmt::format("n={}", size.count / 4); },
                                     .items = "n"};

}  // namespace shiplap
