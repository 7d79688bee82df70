// scalar-add: adds a scalar `iterations` times to every element (Gómez-Luna 2012, §3.1). The sizes of input and output
// are independent, so that the times of copies and kernel can have any ratio.
#include "shiplap/workload/built_in/scalar_add.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "shiplap/workload/built_in/built_in.hpp"
#include "shiplap/workload/built_in/efficiency.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

constexpr std::uint32_t scalar = 3;

std::uint32_t source_at(std::uint64_t i) { return static_cast<std::uint32_t>(hash_of(i, 3)); }

/// The elements of an item in an array.
struct Part {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
/// The elements of every item in an array. Divisions are made once, because items may have one element each.
class Parts {
 public:
  Parts(const ScalarAddShape& shape, std::uint64_t elements)
      : elements_(elements), items_(shape.items), even_(shape.even() ? elements / shape.items : 0) {}

  Part of(std::uint64_t item) const {
    if (even_ != 0) return {even_ * item, even_};
    // Jobs with uneven items are small enough for the products below to fit into 64 bits.
    const std::uint64_t first = elements_ * item / items_;
    return {first, elements_ * (item + 1) / items_ - first};
  }

 private:
  std::uint64_t elements_;
  std::uint64_t items_;
  std::uint64_t even_;  // number of elements of each item; 0 when items differ
};

/// Output `t` of an item with the given inputs and number of outputs. `input` returns the input at an index.
template <class Input>
std::uint32_t output(const ScalarAddShape& shape, Part inputs, std::uint64_t outputs, std::uint64_t t,
                     const Input& input) {
  const std::uint32_t added = shape.scalar * shape.iterations;
  if (outputs >= inputs.count) return input(inputs.first + (t < inputs.count ? t : t % inputs.count)) + added;
  std::uint32_t sum = 0;
  for (std::uint64_t s = t; s < inputs.count; s += outputs) sum += input(inputs.first + s) + added;
  return sum;
}

ProgramText program_text(const ScalarAddShape& shape, std::uint64_t largest) {
  const std::string operands = "as<std::uint32_t>({0}), as<std::uint32_t>({1})";
  const std::string addition = fmt::format("Addition{{{}, {}}}", shape.scalar, shape.iterations);
  const std::uint64_t a = shape.inputs / shape.items;
  const std::uint64_t b = shape.outputs / shape.items;
  const std::uint32_t added = shape.scalar * shape.iterations;
  ProgramText text{
      .kernel = kernel_text({"grid_stride", "scalar_add"}),
      .launch = fmt::format("launch_one_to_one({}, {{items}}, {}, {{blocks}}, {{stream}})", operands, addition),
      .data =
          "std::uint32_t initial_in(std::uint64_t i) { return std::uint32_t(i * 2654435761u + 1); }\n"
          "std::uint32_t initial_out(std::uint64_t i) { return std::uint32_t(i | 1); }  // must be overwritten\n",
      .arrays = {{"std::uint32_t", "initial_in", "initial_in"}, {"std::uint32_t", "initial_out", "expected_out"}}};
  if (!shape.even()) {
    text.kernel = kernel_text({"grid_stride", "scalar_add", "scalar_add_uneven"});
    text.launch = fmt::format(
        "scalar_add_uneven<<<{{blocks}}, threads, 0, {{stream}}>>>({0}, UnevenItems{{{1}u, {2}u, {3}u}}, {{first}}, "
        "{{items}}, {4})",
        operands, shape.inputs, shape.outputs, shape.items, addition);
    text.data += fmt::format(
        "std::uint32_t expected_out(std::uint64_t o) {{\n"
        "  const std::uint64_t inputs = {0}u, outputs = {1}u, items = {2}u;\n"
        "  const std::uint64_t i = ((o + 1) * items - 1) / outputs;\n"
        "  const std::uint64_t first = inputs * i / items, begin = outputs * i / items;\n"
        "  const std::uint64_t a = inputs * (i + 1) / items - first, b = outputs * (i + 1) / items - begin;\n"
        "  if (b >= a) return initial_in(first + (o - begin) % a) + {3}u;\n"
        "  std::uint32_t sum = 0;\n"
        "  for (std::uint64_t s = o - begin; s < a; s += b) sum += initial_in(first + s) + {3}u;\n"
        "  return sum;\n"
        "}}\n",
        shape.inputs, shape.outputs, shape.items, added);
    return text;
  }
  if (a == 1 && b == 1) {
    text.data += fmt::format("std::uint32_t expected_out(std::uint64_t i) {{ return initial_in(i) + {}u; }}\n", added);
    return text;
  }
  text.kernel = kernel_text({"grid_stride", "scalar_add", "scalar_add_ratio"});
  // Indices have 32 bits if these are enough, because divisions of 64 bits are slow.
  const char* index = largest <= std::numeric_limits<std::int32_t>::max() ? "std::uint32_t" : "std::uint64_t";
  text.launch = fmt::format(
      "scalar_add_ratio<{0}><<<{{blocks}}, threads, 0, {{stream}}>>>({1}, {0}({{items}} * {3}), {2}, {3}, {4})", index,
      operands, a, b, addition);
  text.data +=
      b >= a ? fmt::format(
                   "std::uint32_t expected_out(std::uint64_t i) {{ return initial_in(i / {1} * {0} + i % {1} % {0}) + "
                   "{2}u; }}\n",
                   a, b, added)
             : fmt::format(
                   "std::uint32_t expected_out(std::uint64_t i) {{\n"
                   "  std::uint32_t sum = 0;\n"
                   "  for (std::uint64_t s = i % {1}; s < {0}; s += {1}) sum += initial_in(i / {1} * {0} + s) + {2}u;\n"
                   "  return sum;\n"
                   "}}\n",
                   a, b, added);
  return text;
}

std::uint64_t int32_elements(Parameters& parameters, const std::string& name) {
  const Bytes size = parameters.bytes(name, "256MiB");
  if (size.count % 4 != 0)
    parameters.refuse(fmt::format("{}={} is not a multiple of 4 bytes (int32)", name, to_string(size)));
  return size.count / 4;
}

// The number of items. An item is the smallest part with whole numbers of inputs and outputs, in / gcd and out / gcd.
// If such an item is too large, items are uneven: each has about 32 elements of the smaller array, or fewer, so that it
// has at most about 256 outputs.
std::uint64_t items_of_sizes(std::uint64_t in, std::uint64_t out) {
  constexpr std::uint64_t warp = 32;
  constexpr std::uint64_t largest = 256;  // elements of the smaller array
  const std::uint64_t alike = std::gcd(in, out);
  const std::uint64_t smaller = std::min(in, out);
  return alike >= smaller / largest ? alike : std::min(smaller, std::max(smaller / warp, out / largest));
}

// The outputs of an item, with f(x) = x + iterations · scalar (mod 2^32): output t is f(input t mod inputs) if there
// are at least as many outputs as inputs, else the sum of f over inputs t, t + outputs, t + 2·outputs …
Workload scalar_add(Parameters& parameters, const CudaKernels& cuda) {
  const std::uint64_t in = int32_elements(parameters, "in");
  const std::uint64_t out = int32_elements(parameters, "out");
  if (in == 0 || out == 0) parameters.refuse("in and out must be at least one int32 element (4 bytes)");
  const std::uint64_t wanted = parameters.count("iterations", "1", 0);
  if (wanted > 1u << 30) parameters.refuse("iterations must be at most 2^30");
  const auto iterations = static_cast<std::uint32_t>(wanted);
  const std::uint64_t items = items_of_sizes(in, out);
  const ScalarAddShape shape{.inputs = in, .outputs = out, .items = items, .scalar = scalar, .iterations = iterations};
  const bool one_to_one = in == items && out == items;
  Workload w;
  w.job = Job{.items = items,
              .name = fmt::format("scalar-add:in={},out={},iterations={}", to_string(Bytes{4 * in}),
                                  to_string(Bytes{4 * out}), iterations),
              .items_per_block = one_to_one ? 1024ull : std::max<std::uint64_t>(1, 256 / (out / items)),
              .threads_per_block = 256,
              .any_grid = true,
              .each_byte_once = true,
              .flops = static_cast<double>(iterations) * static_cast<double>(std::max(in, out)),
              .device_traffic = Bytes{4 * (in + out)},
              .efficiency = efficiency::scalar_add}
              .shaped<const std::uint32_t>("in", Role::in, in)
              .shaped<std::uint32_t>("out", Role::out, out)
              .host_kernel([shape](Chunk chunk, View<const std::uint32_t> source, View<std::uint32_t> target) {
                const Parts inputs(shape, shape.inputs);
                const Parts outputs(shape, shape.outputs);
                for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) {
                  const Part from = inputs.of(i);
                  const Part to = outputs.of(i);
                  for (std::uint64_t t = 0; t < to.count; ++t)
                    target[to.first + t] = output(shape, from, to.count, t, [&](std::uint64_t k) { return source[k]; });
                }
              });
  if (cuda.scalar_add != nullptr) w.job.binding.cuda = cuda.scalar_add(shape);
  w.program = program_text(shape, std::max(in, out));
  w.fill = [](std::span<const std::span<std::byte>> arrays) {
    generate(as_elements<std::uint32_t>(arrays[0]), source_at);
    generate(as_elements<std::uint32_t>(arrays[1]),
             [](std::uint64_t i) { return static_cast<std::uint32_t>(hash_of(i, 4)); });
  };
  w.verify = [shape](std::span<const std::span<std::byte>> arrays) -> std::string {
    const auto source = as_elements<std::uint32_t>(arrays[0]);
    const auto target = as_elements<std::uint32_t>(arrays[1]);
    const Parts inputs(shape, shape.inputs);
    const Parts outputs(shape, shape.outputs);
    const std::uint64_t each =
        shape.even() ? shape.outputs / shape.items : 0;  // outputs of an item; 0 when items differ
    const auto expected = [&](std::uint64_t o) {
      const std::uint64_t item = each != 0 ? o / each : ((o + 1) * shape.items - 1) / shape.outputs;
      const Part to = outputs.of(item);
      return output(shape, inputs.of(item), to.count, o - to.first, source_at);
    };
    if (const auto i = first_difference<std::uint32_t>(source, source_at); i < source.size())
      return fmt::format("input in[{}] was overwritten", i);
    if (const auto i = first_difference<std::uint32_t>(target, expected); i < target.size())
      return fmt::format("out[{}] is {} instead of {}", i, target[i], expected(i));
    return "";
  };
  return w;
}

}  // namespace

const BuiltInWorkload scalar_add_workload{
    .help = {"scalar-add", "in=SIZE (256MiB), out=SIZE (256MiB), iterations=COUNT (1)",
             "a scalar added iterations times to every int32"},
    .make = scalar_add,
    .sizes = [](Bytes size) { return fmt::format("in={0},out={0}", size.count); }};

}  // namespace shiplap
