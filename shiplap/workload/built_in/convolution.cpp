// convolution: a square filter over a picture in single precision, cut along the rows. The input has a border, so that
// each output has all of its neighbours. The input rows of neighbouring chunks overlap.
#include "shiplap/workload/built_in/convolution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
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

float pixel_at(std::uint64_t i) { return static_cast<float>(small_whole(i, 9)); }
float weight_at(std::uint64_t i) { return static_cast<float>(small_whole(i, 10)); }

std::uint64_t in_width(const ConvolutionShape& shape) { return shape.width + shape.filter - 1; }

/// Computes one row of outputs from `filter` rows of inputs.
void convolve(const ConvolutionShape& shape, const float* in, const float* filter, float* out) {
  std::fill(out, out + shape.width, 0.0f);
  for (std::uint64_t j = 0; j < shape.filter; ++j)
    for (std::uint64_t i = 0; i < shape.filter; ++i) {
      const float weight = filter[j * shape.filter + i];
      const float* row = in + j * in_width(shape) + i;
      for (std::uint64_t x = 0; x < shape.width; ++x) out[x] += weight * row[x];
    }
}

/// The correct row of outputs.
std::vector<float> reference(const ConvolutionShape& shape, std::span<const float> in, std::span<const float> filter,
                             std::uint64_t row) {
  std::vector<float> out(shape.width);
  convolve(shape, &in[row * in_width(shape)], filter.data(), out.data());
  return out;
}

ProgramText program_text(const ConvolutionShape& shape, std::uint64_t height) {
  return {
      .kernel = kernel_text({"grid_stride", "async_copy", "convolution"}),
      .launch = fmt::format(
          "launch_convolution(as<float>({{0}}), as<float>({{1}}), as<float>({{2}}), {{items}}, {}, {}, {{blocks}}, "
          "{{stream}})",
          shape.width, shape.filter),
      .data =
          fmt::format(
              R"(// in[y][x] = r(y) + s(x) and filter[j][i] = t(j) + u(i), whole numbers from 1 to 4: all sums are exact in float, and
// an output is the sum of a number of its row and one of its column.
constexpr std::uint64_t height = {}, width = {}, filter_size = {}, in_width = width + filter_size - 1;
)",
              height, shape.width, shape.filter) +
          R"(std::uint64_t r(std::uint64_t y) { return 1 + y * 7 % 11 % 2; }
std::uint64_t s(std::uint64_t x) { return x * 5 % 13 % 3; }
std::uint64_t t(std::uint64_t j) { return 1 + j * 11 % 17 % 2; }
std::uint64_t u(std::uint64_t i) { return i * 3 % 19 % 3; }
// Sums of a(at + k) (size b(k) + sum(c)) over the filter's index k, for one of the two coordinates.
using Factor = std::uint64_t (*)(std::uint64_t);
std::vector<std::uint64_t> sums(std::uint64_t count, Factor a, Factor b, Factor c) {
  std::uint64_t all = 0;
  for (std::uint64_t k = 0; k < filter_size; ++k) all += c(k);
  std::vector<std::uint64_t> sum(count);
  for (std::uint64_t at = 0; at < count; ++at)
    for (std::uint64_t k = 0; k < filter_size; ++k) sum[at] += a(at + k) * (filter_size * b(k) + all);
  return sum;
}
float initial_in(std::uint64_t i) { return float(r(i / in_width) + s(i % in_width)); }
float initial_filter(std::uint64_t i) { return float(t(i / filter_size) + u(i % filter_size)); }
float initial_out(std::uint64_t i) { return float(i % 1000) + 0.5f; }  // must be overwritten
float expected_out(std::uint64_t i) {
  static const std::vector<std::uint64_t> of_row = sums(height, r, t, u), of_column = sums(width, s, u, t);
  return float(of_row[i / width] + of_column[i % width]);
}
)",
      .arrays = {{"float", "initial_in", "initial_in"},
                 {"float", "initial_filter", "initial_filter"},
                 {"float", "initial_out", "expected_out"}}};
}

Job convolution_job(const ConvolutionShape& shape, std::uint64_t height) {
  const std::uint64_t inputs = (height + shape.filter - 1) * in_width(shape);
  const std::uint64_t outputs = height * shape.width;
  return Job{.items = height,
             .name = fmt::format("convolution:height={},width={},filter={}", height, shape.width, shape.filter),
             .items_per_block = convolution_tile_height,
             .blocks_per_item_group = (shape.width + convolution_tile_width - 1) / convolution_tile_width,
             .threads_per_block = convolution_block_threads,
             .any_grid = true,
             .each_byte_once = false,  // neighbouring blocks read the same inputs at their border
             .flops = 2.0 * static_cast<double>(outputs) * static_cast<double>(shape.filter * shape.filter),
             .device_traffic = Bytes{4 * (inputs + outputs)},
             .efficiency = efficiency::convolution}
      .shaped<const float>("in", Role::in, inputs, mapped_by([shape](ItemRange rows) {
                             return ElementRange{.first = rows.first * in_width(shape),
                                                 .count = (rows.count + shape.filter - 1) * in_width(shape)};
                           }))
      .shaped<const float>("filter", Role::broadcast, shape.filter * shape.filter)
      .shaped<float>("out", Role::out, outputs)
      .host_kernel([shape](Chunk chunk, View<const float> in, View<const float> filter, View<float> out) {
        if (chunk.count == 0) return;
        // These two accesses check the bounds, because the loop below uses plain pointers.
        (void)in[(chunk.end() + shape.filter - 1) * in_width(shape) - 1];
        (void)out[chunk.end() * shape.width - 1];
        for (std::uint64_t y = chunk.first; y < chunk.end(); ++y)
          convolve(shape, &in[y * in_width(shape)], &filter[0], &out[y * shape.width]);
      });
}

/// Names the first input that was overwritten, or the first result that differs from the reference.
std::string wrong_convolution(const ConvolutionShape& shape, std::uint64_t height,
                              std::span<const std::span<std::byte>> arrays) {
  const auto in = as_elements<float>(arrays[0]);
  const auto filter = as_elements<float>(arrays[1]);
  const auto out = as_elements<float>(arrays[2]);
  if (const auto i = first_difference<float>(in, pixel_at); i < in.size())
    return fmt::format("input in[{}] was overwritten: {} instead of {}", i, in[i], pixel_at(i));
  if (const auto i = first_difference<float>(filter, weight_at); i < filter.size())
    return fmt::format("input filter[{}] was overwritten: {} instead of {}", i, filter[i], weight_at(i));
  const std::uint64_t row = first_failure(height, 4, [&](std::uint64_t y) {
    return std::memcmp(&out[y * shape.width], reference(shape, in, filter, y).data(), 4 * shape.width) == 0;
  });
  if (row == height) return "";
  const std::vector<float> expected = reference(shape, in, filter, row);
  std::uint64_t x = 0;
  while (std::memcmp(&out[row * shape.width + x], &expected[x], 4) == 0) ++x;
  return fmt::format("out[{}] (row {}, column {}) is {} instead of {}", row * shape.width + x, row, x,
                     out[row * shape.width + x], expected[x]);
}

Workload convolution(Parameters& parameters, const CudaKernels& cuda) {
  const std::uint64_t height = parameters.count("height", "4096");
  const ConvolutionShape shape{.width = parameters.count("width", "4096"), .filter = parameters.count("filter", "17")};
  if (shape.filter > largest_filter) parameters.refuse(fmt::format("filter must be at most {}", largest_filter));
  if (std::max(height, shape.width) > std::numeric_limits<std::int32_t>::max() - largest_filter)
    parameters.refuse("height and width must be below 2^31 - 64");
  Workload w;
  w.job = convolution_job(shape, height);
  if (cuda.convolution != nullptr) w.job.binding.cuda = cuda.convolution(shape);
  w.program = program_text(shape, height);
  w.fill = [](std::span<const std::span<std::byte>> arrays) {
    generate(as_elements<float>(arrays[0]), pixel_at);
    generate(as_elements<float>(arrays[1]), weight_at);
    generate(as_elements<float>(arrays[2]), [](std::uint64_t i) { return not_whole(i, 11); });
  };
  w.verify = [shape, height](std::span<const std::span<std::byte>> arrays) {
    return wrong_convolution(shape, height, arrays);
  };
  return w;
}

}  // namespace

const BuiltInWorkload convolution_workload{
    .help = {"convolution", "height=COUNT (4096), width=COUNT (4096), filter=COUNT (17)",
             "a filter x filter convolution of height x width floats, cut along the rows, with a halo"},
    .make = convolution,
    .sizes =
        [](Bytes size) {
          // The default width gives rows of 4096 + 17 - 1 inputs of 4 bytes. The height makes the size.
          return fmt::format("height={}", std::max<std::uint64_t>(1, size.count / (4 * 4112)));
        },
    .items = "height"};

}  // namespace shiplap
