#include "shiplap/workload/scalar_add.hpp"

#include <fmt/format.h>

#include <numeric>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

constexpr std::uint32_t scalar = 3;

std::uint32_t in_at(std::uint64_t i) { return static_cast<std::uint32_t>(hash_of(i, 3)); }
std::uint32_t poison_at(std::uint64_t i) { return static_cast<std::uint32_t>(hash_of(i, 4)); }

// Output `t` of the item whose inputs begin at index `first`, read through `input`.
template <class Input>
std::uint32_t output(const ScalarAddShape& shape, std::uint64_t first, std::uint64_t t, const Input& input) {
  const std::uint32_t added = shape.scalar * shape.iterations;
  if (shape.out_per_item >= shape.in_per_item) return input(first + t % shape.in_per_item) + added;
  std::uint32_t sum = 0;
  for (std::uint64_t s = t; s < shape.in_per_item; s += shape.out_per_item) sum += input(first + s) + added;
  return sum;
}

}  // namespace

Workload scalar_add(std::uint64_t in, std::uint64_t out, std::uint32_t iterations, const CudaKernels& cuda) {
  if (in == 0 || out == 0) throw UsageError("scalar-add: in and out must be at least one int32 element (4 bytes)");
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
              .device_traffic = Bytes{4 * (in + out)}}
              .shaped<const std::uint32_t>("in", Role::in, in)
              .shaped<std::uint32_t>("out", Role::out, out)
              .host_kernel([shape](Chunk chunk, View<const std::uint32_t> source, View<std::uint32_t> target) {
                for (std::uint64_t i = chunk.first; i < chunk.end(); ++i)
                  for (std::uint64_t t = 0; t < shape.out_per_item; ++t)
                    target[i * shape.out_per_item + t] =
                        output(shape, i * shape.in_per_item, t, [&](std::uint64_t k) { return source[k]; });
              });
  if (cuda.scalar_add != nullptr) w.job.binding.cuda = cuda.scalar_add(shape);
  w.fill = [](std::span<const std::span<std::byte>> arrays) {
    generate(as_elements<std::uint32_t>(arrays[0]), in_at);
    generate(as_elements<std::uint32_t>(arrays[1]), poison_at);
  };
  w.verify = [shape](std::span<const std::span<std::byte>> arrays) -> std::string {
    const auto source = as_elements<std::uint32_t>(arrays[0]);
    const auto target = as_elements<std::uint32_t>(arrays[1]);
    const auto expected = [&](std::uint64_t i) {
      return output(shape, i / shape.out_per_item * shape.in_per_item, i % shape.out_per_item, in_at);
    };
    if (const auto i = first_difference<std::uint32_t>(source, in_at); i < source.size())
      return fmt::format("input in[{}] was overwritten", i);
    if (const auto i = first_difference<std::uint32_t>(target, expected); i < target.size())
      return fmt::format("out[{}] is {} instead of {}", i, target[i], expected(i));
    return "";
  };
  return w;
}

}  // namespace shiplap
