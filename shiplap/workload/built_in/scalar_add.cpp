// scalar-add: a scalar added `iterations` times to every element (Gómez-Luna 2012, §3.1), with independent sizes of
// input and output, so that any ratio of copy in, kernel and copy out can be set.
#include "shiplap/workload/built_in/scalar_add.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "shiplap/workload/built_in/built_in.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

constexpr std::uint32_t scalar = 3;

std::uint32_t source_at(std::uint64_t i) { return static_cast<std::uint32_t>(hash_of(i, 3)); }

// Output `t` of the item whose inputs begin at index `first`, read through `input`.
template <class Input>
std::uint32_t output(const ScalarAddShape& shape, std::uint64_t first, std::uint64_t t, const Input& input) {
  const std::uint32_t added = shape.scalar * shape.iterations;
  if (shape.out_per_item >= shape.in_per_item) return input(first + t % shape.in_per_item) + added;
  std::uint32_t sum = 0;
  for (std::uint64_t s = t; s < shape.in_per_item; s += shape.out_per_item) sum += input(first + s) + added;
  return sum;
}

ProgramText program_text(const ScalarAddShape& shape, std::uint64_t largest) {
  const std::string operands = "as<std::uint32_t>({0}), as<std::uint32_t>({1})";
  const std::string addition = fmt::format("Addition{{{}, {}}}", shape.scalar, shape.iterations);
  const std::uint64_t a = shape.in_per_item;
  const std::uint64_t b = shape.out_per_item;
  const std::uint32_t added = shape.scalar * shape.iterations;
  ProgramText text{
      .kernel = kernel_text({"grid_stride", "scalar_add"}),
      .launch = fmt::format("launch_one_to_one({}, {{items}}, {}, {{blocks}}, {{stream}})", operands, addition),
      .data =
          "std::uint32_t initial_in(std::uint64_t i) { return std::uint32_t(i * 2654435761u + 1); }\n"
          "std::uint32_t initial_out(std::uint64_t i) { return std::uint32_t(i | 1); }  // to be overwritten\n",
      .arrays = {{"std::uint32_t", "initial_in", "initial_in"}, {"std::uint32_t", "initial_out", "expected_out"}}};
  if (a == 1 && b == 1) {
    text.data += fmt::format("std::uint32_t expected_out(std::uint64_t i) {{ return initial_in(i) + {}u; }}\n", added);
    return text;
  }
  text.kernel = kernel_text({"grid_stride", "scalar_add", "scalar_add_ratio"});
  // Divisions by 32 bits where these are enough.
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

// An item is the smallest piece with whole numbers of both: in / gcd inputs and out / gcd outputs. With
// f(x) = x + iterations · scalar (mod 2^32) output t of an item is f(input t mod inputs) when there are at least as
// many outputs as inputs, else the sum of f over inputs t, t + outputs, t + 2·outputs …
Workload scalar_add(Parameters& parameters, const CudaKernels& cuda) {
  const std::uint64_t in = int32_elements(parameters, "in");
  const std::uint64_t out = int32_elements(parameters, "out");
  if (in == 0 || out == 0) parameters.refuse("in and out must be at least one int32 element (4 bytes)");
  const std::uint64_t wanted = parameters.count("iterations", "1", 0);
  if (wanted > 1u << 30) parameters.refuse("iterations must be at most 2^30");
  const auto iterations = static_cast<std::uint32_t>(wanted);
  const std::uint64_t items = std::gcd(in, out);
  const ScalarAddShape shape{
      .in_per_item = in / items, .out_per_item = out / items, .scalar = scalar, .iterations = iterations};
  Workload w;
  w.job = Job{.items = items,
              .name = fmt::format("scalar-add:in={},out={},iterations={}", to_string(Bytes{4 * in}),
                                  to_string(Bytes{4 * out}), iterations),
              .items_per_block = shape.in_per_item == 1 && shape.out_per_item == 1 ? 1024ull : 256ull,
              .threads_per_block = 256,
              .flops = static_cast<double>(iterations) * static_cast<double>(std::max(in, out)),
              .device_traffic = Bytes{4 * (in + out)},
              .efficiency = 0.88}
              .shaped<const std::uint32_t>("in", Role::in, in)
              .shaped<std::uint32_t>("out", Role::out, out)
              .host_kernel([shape](Chunk chunk, View<const std::uint32_t> source, View<std::uint32_t> target) {
                for (std::uint64_t i = chunk.first; i < chunk.end(); ++i)
                  for (std::uint64_t t = 0; t < shape.out_per_item; ++t)
                    target[i * shape.out_per_item + t] =
                        output(shape, i * shape.in_per_item, t, [&](std::uint64_t k) { return source[k]; });
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
    const auto expected = [&](std::uint64_t i) {
      return output(shape, i / shape.out_per_item * shape.in_per_item, i % shape.out_per_item, source_at);
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
